/** Tests the detection of silent processes, which only counts time in which the supervisor itself ran. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeartbeatMonitor } from '../../../src/server/processes/heartbeat.ts'

function watchOf(children: readonly string[]) {
  let now = 0
  const silences = new HeartbeatMonitor<string>(10_000, () => now)
  for (const child of children) silences.heartbeat(child)
  return {
    silences,
    /** Checks every second for `seconds`. Returns the processes that were silent for too long. */
    pass(seconds: number, each: () => void = () => {}): string[] {
      return Array.from({ length: seconds }, () => {
        now += 1_000
        each()
        return silences.check()
      }).flat()
    },
    /** Nothing runs for `seconds`, and then one check follows. */
    stand(seconds: number): string[] {
      now += seconds * 1_000
      return silences.check()
    },
  }
}

test('a child that is silent for ten seconds is reported once, and no other child is', () => {
  const { silences, pass } = watchOf(['a', 'b'])
  assert.deepEqual(
    pass(9, () => silences.heartbeat('b')),
    [],
  )
  assert.equal(silences.millisecondsSince('a'), 9_000)
  assert.deepEqual(
    pass(1, () => silences.heartbeat('b')),
    ['a'],
  )
  assert.deepEqual(
    pass(20, () => silences.heartbeat('b')),
    [],
  )
})

test('if the machine was suspended or the supervisor itself was late, no child is reported', () => {
  const { silences, pass, stand } = watchOf(['a', 'b'])
  pass(9)
  assert.deepEqual(stand(3_600), [], 'asleep')
  assert.deepEqual(pass(9), [], 'the silence begins anew')
  assert.deepEqual(stand(4), [], 'late')
  assert.deepEqual(
    pass(9, () => silences.heartbeat('b')),
    [],
  )
  assert.deepEqual(
    pass(1, () => silences.heartbeat('b')),
    ['a'],
  )
})

test('a child that never sent a heartbeat, or that has ended, is not silent', () => {
  const { silences, pass } = watchOf(['a'])
  silences.forget('a')
  assert.deepEqual(pass(60), [])
  assert.equal(silences.millisecondsSince('a'), 0)
})
