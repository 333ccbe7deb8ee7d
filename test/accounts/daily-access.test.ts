/** The states of a date on /daily, compared with a calendar that marks every delivery day. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type DailyAccess, dailyAccess } from '../../src/accounts/daily-access.ts'
import { parsePeriod } from '../../src/accounts/period.ts'
import type { Day } from '../../src/values/time.ts'
import { days, marked, subscriptions } from './calendar.ts'

const account = (plan: 'free' | 'basic', ...texts: string[]) => ({
  plan,
  periods: texts.map((text) => parsePeriod(text)!),
})
const access = (who: ReturnType<typeof account>, date: string, today = '2026-06-15'): DailyAccess =>
  dailyAccess(who, date as Day, today as Day)

test('the file of the first subscription day is the one dated the day before it', () => {
  const who = account('free', 'basic:2026-03-01..2026-03-04')
  assert.deepEqual(access(who, '2026-02-28'), { state: 'allowed', plan: 'basic' })
  assert.deepEqual(access(who, '2026-02-27'), { state: 'before_subscription', earliest: '2026-02-28' })
})

test('a subscription that ends on the 4th has the 3rd as its final delivery', () => {
  const who = account('free', 'basic:2026-03-01..2026-03-04')
  assert.deepEqual(access(who, '2026-03-03'), { state: 'allowed', plan: 'basic' })
  assert.deepEqual(access(who, '2026-03-04'), { state: 'after_subscription', latest: '2026-03-03' })
})

test('a date in a gap between periods is outside_subscription', () => {
  const who = account('free', 'basic:2026-01-01..2026-01-10', 'premium:2026-02-01..')
  assert.deepEqual(access(who, '2026-01-20'), {
    state: 'outside_subscription',
    latest: '2026-01-09',
    earliest: '2026-01-31',
  })
  assert.deepEqual(access(who, '2026-01-31'), { state: 'allowed', plan: 'premium' })
})

test('consecutive periods leave no gap, and each decides about its own days', () => {
  const who = account('free', 'basic:2026-01-01..2026-01-31', 'premium:2026-02-01..')
  assert.deepEqual(access(who, '2026-01-30'), { state: 'allowed', plan: 'basic' })
  assert.deepEqual(access(who, '2026-01-31'), { state: 'allowed', plan: 'premium' })
})

test('paid days stay available after the subscription ends', () => {
  const who = account('free', 'basic:2020-01-01..2020-01-31')
  assert.deepEqual(access(who, '2020-01-15'), { state: 'allowed', plan: 'basic' })
})

test('base plan free without a period that has started is plan_required', () => {
  assert.deepEqual(access(account('free'), '2026-06-01'), { state: 'plan_required' })
  const later = account('free', 'basic:2026-07-01..')
  assert.deepEqual(access(later, '2026-07-01'), { state: 'plan_required' })
  assert.deepEqual(access(later, '2026-07-01', '2026-07-01'), { state: 'allowed', plan: 'basic' })
})

test('base plan basic without any period is no_subscription', () => {
  assert.deepEqual(access(account('basic'), '2026-06-01'), { state: 'no_subscription' })
})

test('a date in a period is allowed, including today and the future', () => {
  assert.deepEqual(access(account('free', 'premium:2026-06-01..'), '9999-12-31'), { state: 'allowed', plan: 'premium' })
})

test('every date has the state of a calendar marked day by day', () => {
  fc.assert(
    fc.property(subscriptions, days, days, (who, date, today) => {
      assert.deepEqual(dailyAccess(who, date, today), marked(who, date, today))
    }),
    { numRuns: 500 },
  )
})
