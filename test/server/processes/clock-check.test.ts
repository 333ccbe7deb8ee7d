/** Tests the comparison of clocks: its limits, and what it reports. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClockCheck, type ClockReport, logClock } from '../../../src/server/processes/clock-check.ts'

test('a clock over 2 seconds off is reported, over 30 seconds off it is a fault, each once and in both directions', () => {
  for (const sign of [1, -1]) {
    const levels: ClockReport['level'][] = []
    const clock = new ClockCheck(({ level }) => levels.push(level))
    const faults = [0, 2, 3, 30, 31, 60, 30, 3, 2, 31, 0].map((seconds) => {
      clock.record(sign * seconds)
      assert.equal(clock.ahead, sign * seconds)
      return clock.fault !== null
    })
    assert.deepEqual(levels, ['warning', 'notReady', 'warning', 'close', 'notReady', 'close'])
    assert.deepEqual(faults, [false, false, false, false, true, true, false, false, false, true, false])
  }
})

test('the log says how far and in which direction the clock is off, and when it agrees again', () => {
  const lines: string[] = []
  const log = { warn: (line: string) => lines.push(line), error: (line: string) => lines.push(line) }
  const clock = new ClockCheck((report) => logClock(log as never, report))
  for (const ahead of [5, -31, 0]) clock.record(ahead)
  assert.deepEqual(lines, [
    'the clock of this machine is 5 seconds ahead of that of the store: synchronize both by NTP',
    'not ready: the clock of this machine is 31 seconds behind that of the store: synchronize both by NTP',
    'the clock of this machine agrees with that of the store again',
  ])
})
