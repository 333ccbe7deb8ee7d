/** The rate of visits. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProbeRateLimit } from '../../src/crawler/queue/probe-rate-limit.ts'

/** How many begin within so many milliseconds, where each begins as soon as it may. */
function begun(rate: ReturnType<typeof createProbeRateLimit>, from: number, milliseconds: number): number {
  let count = 0
  for (let now = from; now < from + milliseconds; now++) {
    for (; rate.wait(now) <= 0; count++) rate.acquire(now)
  }
  return count
}

test('as many visits begin in a second as the rate says', () => {
  for (const perSecond of [0.5, 3, 20, 400]) {
    const rate = createProbeRateLimit(perSecond)
    begun(rate, 0, 5_000)
    assert.ok(Math.abs(begun(rate, 5_000, 20_000) - 20 * perSecond) <= 1)
  }
})

test('after a time without visits at most those of one second are caught up on', () => {
  const rate = createProbeRateLimit(20)
  begun(rate, 0, 1_000)
  let caught = 0
  for (; rate.wait(900_000) <= 0; caught++) rate.acquire(900_000)
  assert.ok(caught >= 19 && caught <= 21, `${caught}`)
})

test('a rate that is changed counts from the next visit on, and none is none', () => {
  const rate = createProbeRateLimit(10)
  begun(rate, 0, 2_000)
  rate.setRate(2)
  assert.ok(Math.abs(begun(rate, 2_000, 10_000) - 20) <= 1)
  rate.setRate(null)
  rate.acquire(12_000)
  assert.equal(rate.wait(13_000), 0)
})
