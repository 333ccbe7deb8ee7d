/** Subscription periods: their format, and when two overlap. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatPeriod, parsePeriod, periodsOverlap } from '../../src/accounts/period.ts'
import { calendar, periods } from './calendar.ts'

test('a period is PLAN:FIRST..LAST or, open, PLAN:FIRST..', () => {
  assert.deepEqual(parsePeriod('basic:2026-01-01..2026-03-31'), {
    plan: 'basic',
    first: '2026-01-01',
    last: '2026-03-31',
  })
  assert.deepEqual(parsePeriod(' premium:2026-01-01.. '), { plan: 'premium', first: '2026-01-01', last: null })
  assert.deepEqual(parsePeriod('basic:2024-02-29..2024-02-29'), {
    plan: 'basic',
    first: '2024-02-29',
    last: '2024-02-29',
  })
})

for (const text of [
  '',
  'basic',
  'basic:',
  'basic:..',
  'basic:2026-01-01',
  'basic:2026-01-01...',
  'basic:2026-01-01..2026-01-01..',
  'basic:..2026-01-01',
  'free:2026-01-01..',
  'Basic:2026-01-01..',
  'gold:2026-01-01..',
  'basic:2026-02-29..',
  'basic:2026-01-01..2026-02-30',
  'basic:2026-1-1..',
  'basic:2026-01-02..2026-01-01',
  'basic:0000-01-01..',
  'basic:1970-01-01..',
  'basic:2026-01-01 .. 2026-02-01',
]) {
  test(`"${text}" is not a period`, () => assert.equal(parsePeriod(text), null))
}

test('the earliest first day is 1970-01-02', () => {
  assert.equal(parsePeriod('basic:1970-01-02..')?.first, '1970-01-02')
})

test('a period is parsed as it was written', () => {
  fc.assert(
    fc.property(periods, (list) => {
      for (const period of list) assert.deepEqual(parsePeriod(formatPeriod(period)), period)
    }),
  )
})

test('periods overlap exactly if both contain some day', () => {
  fc.assert(
    fc.property(periods, periods, (some, others) => {
      for (const a of some) {
        for (const b of others) {
          const shared = [...calendar([a]).keys()].some((day) => calendar([b]).has(day))
          assert.equal(periodsOverlap(a, b), shared)
          assert.equal(periodsOverlap(b, a), shared)
        }
      }
    }),
  )
})
