/** Limits: every row of the specification's table about the size of a response. */

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { hosted, redirecting } from './observations.ts'
import { metaOf } from './walks.ts'
import { makeWorld } from './world.ts'

const world = await makeWorld()
/** One more than the standard page. */
const ROWS = 1001
before(async () => {
  const names = Array.from({ length: ROWS }, (_, index) => `name${String(index).padStart(4, '0')}.example`)
  await world.ingest(...names.flatMap((name) => [redirecting(name, 'hub.test'), hosted(name, ['192.0.2.1'])]))
})

for (const [plan, cap] of [
  ['free', 1_000],
  ['basic', 10_000],
  ['premium', 50_000],
] as const) {
  for (const [endpoint, query] of [
    ['redirect', 'hub.test'],
    ['reverseip', '192.0.2.1'],
  ] as const) {
    test(`page size of /${endpoint}, ${plan}: default 1,000; cap ${cap}; excess silently reduced`, async () => {
      const { token } = await world.account({ plan })
      for (const [limit, applied] of [
        [undefined, 1_000],
        [cap, cap],
        [cap + 1, cap],
        [10 ** 9, cap],
        [999, 999],
      ] as const) {
        const seen = await world.ask(endpoint, { token, query, limit })
        const { result } = seen.body as { result: object[] }
        const meta = metaOf(seen)
        assert.deepEqual([meta.limit, meta.max_limit, result.length], [applied, cap, Math.min(applied, ROWS)])
        assert.equal(meta.next === null, applied >= ROWS)
      }
    })
  }
}

for (const [plan, cap] of [
  ['basic', 10],
  ['premium', 100],
] as const) {
  test(`entries per record type of /dnshistory, ${plan}: default 10; cap ${cap}; excess silently reduced`, async () => {
    const { token } = await world.account({ plan })
    for (const [limit, applied] of [
      [undefined, 10],
      [cap, cap],
      [cap + 1, cap],
      [10 ** 9, cap],
      [1, 1],
    ] as const) {
      const meta = metaOf(await world.ask('dnshistory', { token, query: 'hub.test', limit }))
      assert.deepEqual([meta.limit, meta.max_limit], [applied, cap])
    }
  })
}

test('a cursor from a higher plan continues within the limit of the current plan', async () => {
  const premium = await world.account({ plan: 'premium' })
  const free = await world.account()
  const { next } = metaOf(await world.ask('redirect', { token: premium.token, query: 'hub.test', limit: 1 }))
  const meta = metaOf(await world.ask('redirect', { token: free.token, query: 'hub.test', limit: 5_000, next }))
  assert.deepEqual([meta.limit, meta.max_limit, meta.next], [1_000, 1_000, null])
})
