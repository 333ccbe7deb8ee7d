/** Who is silent: counted only while the process that watches ran itself. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeartbeatMonitor } from '../../../src/server/processes/heartbeat.ts'

function watchOf(children: readonly string[]) {
  let now = 0
  const silences = new HeartbeatMonitor<string>(10_000, () => now)
  for (const child of children) silences.heartbeat(child)
  return {
    silences,
    /** Looks every second for so long; tells who was silent for too long. */
    pass(seconds: number, each: () => void = () => {}): string[] {
      return Array.from({ length: seconds }, () => {
        now += 1_000
        each()
        return silences.check()
      }).flat()
    },
    /** Nothing runs for so long, and then one look. */
    stand(seconds: number): string[] {
      now += seconds * 1_000
      return silences.check()
    },
  }
}

test('a child that is silent for ten seconds is told of once, and no other one', () => {
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

test('a machine that was suspended, or a process that was late itself, accuses nobody', () => {
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

test('a child that was never heard of, or that has ended, is not silent', () => {
  const { silences, pass } = watchOf(['a'])
  silences.forget('a')
  assert.deepEqual(pass(60), [])
  assert.equal(silences.millisecondsSince('a'), 0)
})
