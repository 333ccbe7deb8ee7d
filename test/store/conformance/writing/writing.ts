/** Tests of writing: the state read before, batches, rejected changes, visibility to others. */

import assert from 'node:assert/strict'
import { NO_CLOCKS, NO_FACTS } from '../../../../src/apply/crawl-state.ts'
import { ingest } from '../../../../src/store/ingest.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { inForm } from '../../../long.ts'
import { Model } from '../../model.ts'
import { agree } from '../answers.ts'
import type { Engine } from '../engine.ts'
import { changesOf, dns, ingestAll, NOW, name, redirecting, seen, testWithStore, web } from '../world.ts'
import { ONE, on, QUESTION, TWO } from './two-names.ts'

/** The names of a large batch. It has a tenth as many observations of one name. */
const MANY = inForm(1_200, 3_000)

export function writing(engine: Engine): void {
  testWithStore(
    engine,
    'crawl states and current facts are returned in the requested order, with nothing for an unknown name',
    async (store) => {
      await ingest(store, [on('one.example', 1, '192.0.2.1')])
      const visits = await store.observations.crawlStates([TWO, ONE])
      assert.deepEqual(
        visits.map((visit) => visit.name),
        [TWO, ONE],
      )
      const { version, clocks, dnsFingerprint: dnsPrint, webFingerprint: webPrint, forgotten } = visits[0]!
      assert.deepEqual(
        { version, dnsPrint, webPrint, forgotten },
        { version: 0, dnsPrint: 0, webPrint: 0, forgotten: false },
      )
      assert.deepEqual([...clocks], NO_CLOCKS)
      const [nothing, known] = await store.observations.currentFacts([TWO, ONE])
      assert.deepEqual(nothing, NO_FACTS)
      assert.equal(known?.ip, 'v4only')
      assert.equal(known?.web?.redirects_to, 'target.example')
      assert.deepEqual(await store.observations.crawlStates([]), [])
      assert.deepEqual(await store.observations.currentFacts([]), [])
    },
  )

  testWithStore(engine, 'a saved change is read back as it was: crawl state and current facts', async (store) => {
    const full = seen(
      'one.example',
      1,
      dns({ A: ['192.0.2.1'], AAAA: [], MX: [{ priority: 0, mail_server: '.' }] }),
      web({ text: 'Hi' }),
    )
    for (const observation of [
      full,
      seen('one.example', 2, dns({ TXT: [['a']] })),
      seen('one.example', 3, null, web()),
      seen('one.example', 4, null, { ...redirecting('target.example'), redirect_host: name('www.target.example') }),
      seen('one.example', 5, null, { ...web({ has_website: true }), redirect_host: name('shop.one.example') }),
    ]) {
      const [change] = await changesOf(store, [observation])
      assert.deepEqual((await store.observations.save([change!])).rejected, [])
      const [visit] = await store.observations.crawlStates([ONE])
      assert.deepEqual({ ...visit, clocks: [...visit!.clocks] }, { ...change!.state, version: visit!.version })
      assert.deepEqual((await store.observations.currentFacts([ONE]))[0], change!.facts?.current)
    }
  })

  testWithStore(engine, 'an empty batch and an empty save do nothing', async (store) => {
    assert.deepEqual(await ingest(store, []), [])
    assert.deepEqual((await store.observations.save([])).rejected, [])
  })

  testWithStore(
    engine,
    'what one writer has saved is visible to every other instance at once',
    async (store, opened) => {
      const other = await opened.another()
      const model = new Model(NOW)
      for (let at = 1; at <= 6; at++) {
        const observation = on(at % 2 ? 'one.example' : 'two.example', at, `192.0.2.${1 + (at % 3)}`)
        await ingest(at % 3 ? store : other, [observation])
        model.observe(observation)
        await agree(at % 2 ? store : other, model, QUESTION)
      }
    },
  )

  testWithStore(
    engine,
    'a batch of thousands of names, and of hundreds of observations of one name, is written completely',
    async (store, opened) => {
      const many = Array.from({ length: MANY }, (_, n) => on(`n${n}.example`, n % 700, '192.0.2.1'))
      const one = Array.from({ length: MANY / 10 }, (_, n) => on('one.example', n, `192.0.2.${1 + (n % 2)}`))
      const outcomes = await ingestAll(store, [...many, ...one], 4000)
      assert.deepEqual(
        outcomes.filter((outcome) => outcome !== 'applied'),
        [],
      )
      const reopened = await opened.reopen()
      const { A } = (await reopened.facts.history(ONE, ['A'], null, 10)).byType
      assert.equal(A.total, MANY / 10)
      const lookup = await reopened.facts.lookup(ONE)
      assert.deepEqual(
        [lookup?.reverse_ip_count, (await reopened.facts.lookup(name('target.example')))?.redirect_count],
        [0, undefined],
      )
      assert.equal((await reopened.facts.lookup(name('n7.example')))?.reverse_ip_count, MANY - 1)
    },
  )

  testWithStore(
    engine,
    "an observation more than 5 minutes ahead of the store's clock is rejected, and 5 minutes are accepted",
    async (store) => {
      const [just, over] = [on('one.example', 725, '192.0.2.1'), on('two.example', 725, '192.0.2.1')]
      assert.deepEqual(await ingest(store, [just, { ...over, observed_at: over.observed_at + 1 }]), [
        'applied',
        'ahead',
      ])
      assert.equal(await store.facts.lookup(TWO), null)
      assert.equal(await store.now(), NOW)
    },
  )

  testWithStore(
    engine,
    'an unknown fingerprint, or one of an older release, never causes a false change',
    async (store) => {
      const observation = (at: number) =>
        seen('one.example', at, dns({ A: ['192.0.2.1'], SOA: [] }), web({ has_website: true, text: 'Hi' }))
      await ingest(store, [observation(1)])
      for (const [print, at] of [
        [0, 2],
        [12345, 3],
      ] as const) {
        const frontier: Store['observations'] = {
          ...store.observations,
          crawlStates: async (names) =>
            (await store.observations.crawlStates(names)).map((visit) => ({
              ...visit,
              dnsFingerprint: print,
              webFingerprint: print,
            })),
        }
        assert.deepEqual(await ingest({ observations: frontier, now: () => store.now() }, [observation(at)]), [
          'unchanged',
        ])
      }
      assert.equal((await store.facts.history(ONE, ['A'], null, 10)).byType.A.total, 1)
    },
  )
}
