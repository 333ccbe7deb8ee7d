/** Tests of maintenance: check finds errors and only those, sizes, the clock, the data of a reopened store. */

import assert from 'node:assert/strict'
import { ingest } from '../../../src/store/ingest.ts'
import type { Store } from '../../../src/store/port/store.ts'
import { remedyOf } from '../../../src/store/shared/check/findings.ts'
import { isLong } from '../../long.ts'
import { checkAll } from '../check-all.ts'
import { allAnswers, wrongAnswers } from '../damage/all-answers.ts'
import { repairAll } from '../damage/repair-all.ts'
import { Model } from '../model.ts'
import { agree } from './answers.ts'
import { CERTIFICATES } from './arbitraries.ts'
import type { Engine } from './engine.ts'
import { fileAll, holdOf } from './similar/filed-pages.ts'
import {
  address,
  dns,
  faults,
  NOW,
  NXDOMAIN,
  name,
  redirecting,
  seen,
  soa,
  testUnchecked,
  testWithStore,
  web,
} from './world.ts'

/** The store to damage: it has rows in every table of any engine. */
const FILLED = [
  seen(
    'a.example',
    1,
    dns({ A: ['192.0.2.1', '192.0.2.2'], SOA: [soa(1)], NS: ['ns.example'] }),
    redirecting('t.example'),
  ),
  seen('a.example', 2, dns({ A: ['192.0.2.1'], SOA: [soa(2)], NS: [] })),
  seen('a.example', 3, dns({ SOA: [soa(3)] })),
  seen('b.example', 1, dns({ A: ['192.0.2.1'], AAAA: ['::1'], MX: [] }), redirecting('t.example')),
  seen('b.example', 4, NXDOMAIN),
  seen('c.example', 1, dns({ A: ['192.0.2.1'], AAAA: ['::1'] }), {
    ...web({ has_website: true, text: 'Some text.' }),
    certificate: CERTIFICATES[1]!,
  }),
  seen('d.example', 1, null),
]
/** A pending start page, observed after the others. */
const WAITING = seen('f.example', 1, null, web({ has_website: true, text: 'Other text.' }))

const ASKED = {
  names: ['a', 'b', 'c', 'd', 'e', 'f', 't', 'z'].map((label) => name(`${label}.example`)),
  addresses: ['192.0.2.1', '192.0.2.2', '::1'].map(address),
  sha256s: CERTIFICATES.map(({ sha256 }) => sha256),
}

async function fill(store: Store): Promise<void> {
  await ingest(store, FILLED)
  await store.observations.forget(name('e.example'))
  const hold = await holdOf(store)
  await fileAll(store, hold)
  await store.jobs.releaseLock(hold)
  await ingest(store, [WAITING])
}

export function upkeep(engine: Engine): void {
  testWithStore(engine, 'check finds nothing in an empty store, checks every name, and ends', async (store) => {
    assert.deepEqual(await faults(store), [])
    await ingest(store, FILLED)
    await store.observations.forget(name('e.example'))
    const { checked } = await checkAll(store)
    assert.ok(checked >= 5, `${checked} rows were looked at`)
  })

  for (const { what, plant } of engine.damages) {
    testUnchecked(engine, `check finds ${what}, and repairs it or says that it cannot`, async (store, opened) => {
      await fill(store)
      assert.deepEqual(await opened.check(), [])
      const whole = isLong ? await allAnswers(store, ASKED) : null
      await plant(opened)
      assert.notDeepEqual(await opened.check(), [])
      const { repaired, left } = await repairAll(store)
      const remedies = new Set(left.flatMap((fault) => remedyOf(fault) ?? []))
      if (left.length === 0) assert.ok(repaired > 0)
      else assert.notEqual(remedies.size, 0, 'what is left, is left because of something that nothing else says')
      if (whole === null) return
      if (left.length === 0) {
        assert.deepEqual(await opened.check(), [])
        assert.deepEqual(wrongAnswers(whole, await allAnswers(store, ASKED), { failing: true }), [])
      } else if (remedies.size === 1 && remedies.has('observe')) {
        for (const each of ASKED.names) await store.observations.forget(each)
        assert.deepEqual((await repairAll(store)).left, [], 'the forgotten names left nothing behind')
      }
    })
  }

  testWithStore(engine, 'a store that is closed and opened again gives the same responses', async (store, opened) => {
    const model = new Model(NOW)
    await ingest(store, FILLED)
    await store.observations.forget(name('c.example'))
    for (const observation of FILLED) model.observe(observation)
    model.forget(name('c.example'))
    const reopened = await opened.reopen()
    const names = ['a.example', 'b.example', 'c.example', 'd.example', 't.example'].map(name)
    await agree(reopened, model, {
      names,
      addresses: ['192.0.2.1', '192.0.2.2', '::1'].map(address),
      limit: 2,
    })
    assert.deepEqual(
      await ingest(reopened, FILLED),
      FILLED.map(() => 'stale'),
    )
  })

  testWithStore(
    engine,
    'a store that gives the expected responses is probed without a change',
    async (store, opened) => {
      await store.probe()
      await ingest(store, FILLED)
      await (await opened.another()).probe()
      await store.probe()
    },
  )

  testWithStore(engine, 'each table has a size, once', async (store) => {
    await fill(store)
    const sizes = await store.maintenance.tableSizes()
    const names = sizes.map((table) => table.name)
    assert.equal(new Set(names).size, names.length)
    for (const table of ['facts', 'crawl_state', 'dns_state', 'posting']) {
      const found = sizes.find((each) => each.name === table)
      assert.ok(Number.isInteger(found?.bytes) && found!.bytes > 0, table)
      assert.ok(Number.isInteger(found!.indexes) && found!.indexes < found!.bytes, table)
      assert.ok(found!.rows === null || Number.isInteger(found!.rows), table)
    }
    assert.ok(
      names.some((each) => each.endsWith('account')),
      'the ledger too',
    )
  })

  testWithStore(engine, 'sizes are whole numbers of bytes, and the facts have some', async (store) => {
    await ingest(store, FILLED)
    const { facts, writeAheadLog, ledger, unused } = await store.maintenance.sizes()
    assert.ok(Number.isInteger(facts) && facts > 0, String(facts))
    for (const each of [writeAheadLog, ledger, unused ?? 0])
      assert.ok(Number.isInteger(each) && each >= 0, String(each))
  })

  testWithStore(engine, 'the clock of the store is the given one', async (store, opened) => {
    assert.equal(await store.now(), NOW)
    assert.equal(await (await opened.another()).now(), NOW)
  })
}
