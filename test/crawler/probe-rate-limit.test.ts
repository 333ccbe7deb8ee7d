/** The rate of probes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProbeRateLimit } from '../../src/crawler/queue/probe-rate-limit.ts'

/** How many probes start within this time if each starts as soon as it may. */
function started(rate: ReturnType<typeof createProbeRateLimit>, from: number, milliseconds: number): number {
  let count = 0
  for (let now = from; now < from + milliseconds; now++) {
    for (; rate.wait(now) <= 0; count++) rate.acquire(now)
  }
  return count
}

test('as many probes start in a second as the rate allows', () => {
  for (const perSecond of [0.5, 3, 20, 400]) {
    const rate = createProbeRateLimit(perSecond)
    started(rate, 0, 5_000)
    assert.ok(Math.abs(started(rate, 5_000, 20_000) - 20 * perSecond) <= 1)
  }
})

test('after a time without probes, at most those of one second are caught up', () => {
  const rate = createProbeRateLimit(20)
  started(rate, 0, 1_000)
  let caught = 0
  for (; rate.wait(900_000) <= 0; caught++) rate.acquire(900_000)
  assert.ok(caught >= 19 && caught <= 21, `${caught}`)
})

test('a changed rate applies from the next probe on, and null means no limit', () => {
  const rate = createProbeRateLimit(10)
  started(rate, 0, 2_000)
  rate.setRate(2)
  assert.ok(Math.abs(started(rate, 2_000, 10_000) - 20) <= 1)
  rate.setRate(null)
  rate.acquire(12_000)
  assert.equal(rate.wait(13_000), 0)
})
