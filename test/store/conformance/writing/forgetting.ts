/** Tests of forgetting: everything about a name is removed, and nothing may store it again. */

import assert from 'node:assert/strict'
import { ingest } from '../../../../src/store/ingest.ts'
import { RECORD_TYPES } from '../../../../src/values/records/dns-record.ts'
import { Model } from '../../model.ts'
import { agree } from '../answers.ts'
import type { Engine } from '../engine.ts'
import { parsePage } from '../reading/paging.ts'
import { address, dns, NOW, name, redirecting, seen, soa, testWithStore, web } from '../world.ts'

const ONE = name('one.example')
const TWO = name('two.example')
const QUESTION = {
  names: [ONE, TWO, name('t.example')],
  addresses: [address('192.0.2.1'), address('::1')],
  limit: 1,
}

const WORLD = [
  seen('one.example', 1, dns({ A: ['192.0.2.1'], AAAA: ['::1'], SOA: [soa(1)] }), redirecting('t.example')),
  seen('one.example', 2, dns({ A: ['192.0.2.2'], SOA: [soa(2)] }), web({ has_website: true, text: 'Some text.' })),
  seen('one.example', 3, dns({ A: ['192.0.2.1'] }), redirecting('t.example')),
  seen('two.example', 1, dns({ A: ['192.0.2.1'], AAAA: ['::1'] }), redirecting('t.example')),
  seen('t.example', 1, dns({ A: ['192.0.2.1'] }), redirecting('one.example')),
]

export function forgetting(engine: Engine): void {
  testWithStore(
    engine,
    'a forgotten name is in no response, and the counts of other names change accordingly',
    async (store, opened) => {
      const model = new Model(NOW)
      await ingest(store, WORLD)
      for (const observation of WORLD) model.observe(observation)
      assert.equal(await store.observations.forget(ONE), true)
      model.forget(ONE)
      await agree(store, model, QUESTION)
      assert.equal(await store.facts.lookup(ONE), null)
      const { byType } = await store.facts.history(ONE, RECORD_TYPES, null, 10)
      assert.deepEqual(
        RECORD_TYPES.map((type) => byType[type].total),
        RECORD_TYPES.map(() => 0),
      )
      await agree(await opened.reopen(), model, QUESTION)
    },
  )

  testWithStore(
    engine,
    'later observations of a forgotten name change nothing, in every kind of batch',
    async (store) => {
      await ingest(store, WORLD)
      await store.observations.forget(ONE)
      const model = new Model(NOW)
      for (const observation of WORLD.slice(3)) model.observe(observation)
      const later = [
        seen('one.example', 8, dns({ A: ['192.0.2.1'] }), redirecting('t.example')),
        seen('one.example', 9, null),
      ]
      assert.deepEqual(await ingest(store, later), ['stale', 'stale'])
      assert.deepEqual(await ingest(store, [...WORLD.slice(0, 3), seen('two.example', 9, null, web()), later[0]!]), [
        'stale',
        'stale',
        'stale',
        'applied',
        'stale',
      ])
      model.observe(seen('two.example', 9, null, web()))
      await agree(store, model, QUESTION)
      assert.equal((await store.observations.crawlStates([ONE]))[0]!.forgotten, true)
    },
  )

  testWithStore(engine, 'forgetting reports whether there was more than a tombstone', async (store, opened) => {
    await ingest(store, [seen('one.example', 1, null), seen('a.example', 1, null, redirecting('two.example'))])
    assert.equal(await store.observations.forget(ONE), true, 'a name that is only known')
    assert.equal(await store.observations.forget(ONE), false, 'a tombstone')
    assert.equal(await (await opened.another()).observations.forget(TWO), false, 'a name that is only redirected to')
    assert.equal(await store.observations.forget(name('never.example')), false, 'an unknown name')
  })

  testWithStore(engine, 'forgetting an unknown name leaves a tombstone too', async (store, opened) => {
    assert.equal(await store.observations.forget(ONE), false)
    assert.deepEqual(await ingest(await opened.reopen(), WORLD.slice(0, 3)), ['stale', 'stale', 'stale'])
  })

  testWithStore(engine, 'a forgotten name stays the target of those that redirect to it', async (store) => {
    await ingest(store, WORLD)
    await store.observations.forget(ONE)
    const { rows } = parsePage(await store.facts.redirects(ONE, null, 10))
    assert.deepEqual(rows, [{ target: 't.example' }])
  })
}
