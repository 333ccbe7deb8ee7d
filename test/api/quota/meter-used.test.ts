/** The quota limiter's count of spent units, during settlements without a pause between them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_PLAN_LIMITS } from '../../../src/accounts/plan.ts'
import type { Caller } from '../../../src/api/auth/authenticator.ts'
import { QuotaLimiter, type QuotaLimiterOptions } from '../../../src/api/quota/quota-limiter.ts'
import type { Day } from '../../../src/values/time.ts'

test('units of a round that starts when the last one ends are counted', async () => {
  let used = 0
  const gates: PromiseWithResolvers<void>[] = []
  const ledger = {
    takeQuota: async () => ({ granted: 10, used, retryLater: false }),
    settleQuota: async (settlements: readonly { spent: number }[]) => {
      const gate = Promise.withResolvers<void>()
      gates.push(gate)
      await gate.promise
      for (const { spent } of settlements) used += spent
    },
    usedUnits: async () => used,
    recordUsage: async () => {},
  } as unknown as QuotaLimiterOptions['ledger']
  const limiter = new QuotaLimiter({ ledger, holder: 'one', onFault: (fault) => assert.fail(String(fault)) })
  const account = { id: 1 } as Caller['account']
  const caller = { account, token: 1, limits: DEFAULT_PLAN_LIMITS.free, now: 0, today: '2026-11-20' as Day } as Caller
  const call = async (): Promise<void> => (await limiter.reserve(caller)).charge('lookup')
  await call()
  const first = limiter.settle()
  await new Promise(setImmediate)
  await call()
  const reported = limiter.used(caller)
  const second = limiter.settle()
  gates[0]!.resolve()
  assert.equal(await reported, 2)
  await first
  gates[1]!.resolve()
  await second
  const closed = limiter.close()
  while (gates.length < 3) await new Promise(setImmediate)
  gates[2]!.resolve()
  await closed
})
