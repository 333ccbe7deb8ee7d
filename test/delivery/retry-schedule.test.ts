/** The schedule of retries, and the pauses of a receiver that is down. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nextAttempt, pauseAfter, RETRY_SECONDS } from '../../src/delivery/retry-schedule.ts'

const NOW = 1_795_176_000

/** The times of all attempts after the first one, from its time on. */
function attemptsAfter(random: () => number): number[] {
  const times: number[] = []
  for (let now: number | null = NOW; now !== null; ) {
    now = nextAttempt({ attempts: times.length + 1, since: NOW, retryAfter: null, random: random() }, now)
    if (now !== null) times.push(now - NOW)
  }
  return times
}

test('the delays are those of Standard Webhooks, and the last attempt is at the end of three days', () => {
  const delays = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000]
  const times = delays.map((_, at) => delays.slice(0, at + 1).reduce((sum, delay) => sum + delay))
  assert.deepEqual(
    attemptsAfter(() => 0.5),
    [...times, RETRY_SECONDS],
  )
})

test('whatever the jitter, attempts end at three days, and there are nine to eleven', () => {
  fc.assert(
    fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (stream) => {
      const times = attemptsAfter(() => stream.next().value!)
      assert.equal(times.at(-1), RETRY_SECONDS)
      assert.ok(times.length >= 9 && times.length <= 11, String(times.length))
      assert.ok(times[0]! >= 4 && times[0]! <= 6)
    }),
  )
})

test('a receiver asks for up to an hour with Retry-After, and pauses by itself from the third failure on', () => {
  const delayOf = (retryAfter: number) => nextAttempt({ attempts: 1, since: NOW, retryAfter, random: 0.5 }, NOW)! - NOW
  assert.deepEqual([delayOf(1), delayOf(90), delayOf(1e9)], [5, 90, 3_600])
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 99].map((failures) => pauseAfter(failures, null)),
    [0, 0, 60, 300, 900, 3_600, 3_600],
  )
  assert.deepEqual([pauseAfter(1, 30), pauseAfter(3, 30), pauseAfter(1, 1e9)], [30, 60, 3_600])
})
