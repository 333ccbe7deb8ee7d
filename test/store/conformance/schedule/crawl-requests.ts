/** Tests of the counts that crawl requests leave. */

import assert from 'node:assert/strict'
import { openBulkStore } from '../../../../src/store/open.ts'
import { LEDGER_TABLES } from '../../../../src/store/port/bulk.ts'
import { addDays, type Day } from '../../../../src/values/time.ts'
import { TESTER } from '../../../tester.ts'
import type { Engine, Opened } from '../engine.ts'
import { NOW, name, testWithStore } from '../world.ts'

const TODAY = '2026-11-20' as Day
const ACCOUNT = { email: 'ann@example.com', role: 'user', plan: 'free', periods: [], addons: [] } as const
const REQUEST_COUNTS = LEDGER_TABLES.find(({ name }) => name === 'lookup_request_count')!

/** The number of rows that count the requests of accounts. */
async function counted({ url }: Opened): Promise<number> {
  const bulk = await openBulkStore(url, 'read')
  return bulk.count(REQUEST_COUNTS).finally(() => bulk.close())
}

export function crawlRequests(engine: Engine): void {
  testWithStore(engine, 'two days of an account are counted, and none of a deleted one', async (store, opened) => {
    const { id } = (await store.ledger.as(TESTER).createAccount(ACCOUNT, NOW))!
    for (let day = 0; day < 4; day++) {
      const asked = name(`n${day}.example`)
      assert.ok(
        await store.crawlRequests.requestFromLookup({
          account: id,
          day: addDays(TODAY, day),
          name: asked,
          maxPerDay: 1,
        }),
      )
    }
    assert.equal(await counted(opened), 2)
    await store.ledger.as(TESTER).deleteAccount(id)
    assert.equal(await counted(opened), 0)
  })

  testWithStore(engine, 'requests during the deletion of an account are not counted either', async (store, opened) => {
    const other = await opened.another()
    for (let round = 0; round < 10; round++) {
      const { id } = (await store.ledger.as(TESTER).createAccount(ACCOUNT, NOW))!
      const asks = Array.from({ length: 12 }, (_, n) =>
        other.crawlRequests.requestFromLookup({
          account: id,
          day: TODAY,
          name: name(`n${round}-${n}.example`),
          maxPerDay: 99,
        }),
      )
      await asks[0]
      await Promise.all([...asks, store.ledger.as(TESTER).deleteAccount(id)])
    }
    assert.equal(await counted(opened), 0)
  })
}
