/** The plans: what each allows, and which one is in force. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_PLAN_LIMITS, planInForce } from '../../src/accounts/plan.ts'
import type { Day } from '../../src/values/time.ts'
import { calendar, days, subscriptions } from './calendar.ts'

test('the limits are those of the specification', () => {
  assert.deepEqual(DEFAULT_PLAN_LIMITS, {
    free: { dailyCalls: 100, pageRows: 1_000, historyStates: null, watches: 10, webhooks: 1, probeHours: null },
    basic: { dailyCalls: 25_000, pageRows: 10_000, historyStates: 10, watches: 1_000, webhooks: 10, probeHours: 24 },
    premium: {
      dailyCalls: 250_000,
      pageRows: 50_000,
      historyStates: 100,
      watches: 10_000,
      webhooks: 100,
      probeHours: 6,
    },
    local: { dailyCalls: null, pageRows: 50_000, historyStates: 100, watches: 100_000, webhooks: 100, probeHours: 6 },
  })
})

test('plan in force: the higher of the base plan and the period that contains the day', () => {
  const rank = { free: 0, basic: 1, premium: 2, local: 3 }
  fc.assert(
    fc.property(subscriptions, days, (account, day) => {
      const paid = calendar(account.periods).get(day)?.plan ?? 'free'
      assert.equal(planInForce(account, day), rank[paid] > rank[account.plan] ? paid : account.plan)
    }),
  )
})

test('a period never lowers the base plan', () => {
  const period = { plan: 'basic', first: '2026-03-01' as Day, last: null } as const
  assert.equal(planInForce({ plan: 'premium', periods: [period] }, '2026-03-02' as Day), 'premium')
})
