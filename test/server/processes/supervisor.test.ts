/** The supervisor with processes and a clock that the test controls. */

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type SupervisionRules, Supervisor } from '../../../src/server/processes/supervisor.ts'

/** A process that does what the test says. */
class FakeProcess extends EventEmitter {
  readonly pid = 7
  readonly kills: string[] = []
  stops = 0

  kill(signal: string): void {
    this.kills.push(signal)
    this.end(null, signal)
  }

  end(code: number | null, signal: string | null = null): void {
    this.emit('close', code, signal)
  }

  sendHeartbeat(isReady = true): void {
    this.emit('message', { to: 'primary', is: 'heartbeat', isReady })
  }
}

type World = {
  supervisor: Supervisor<FakeProcess>
  /** All processes that were forked, oldest first. */
  forked: FakeProcess[]
  logged: { msg: string; seconds?: number; reason?: unknown; slot?: number }[]
  /** Why processes that are forked from now on fail to begin; null: they begin. */
  setFailure(reason: string | null): void
  /** Lets time pass in steps of a second, with a heartbeat of every process but those in `silent`. */
  pass(seconds: number, silent?: readonly FakeProcess[]): Promise<void>
}

function worldOf(t: TestContext, count: number, rules: Partial<SupervisionRules<FakeProcess>> = {}): World {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  let now = 0
  let failure: string | null = null
  const forked: FakeProcess[] = []
  const logged: World['logged'] = []
  const supervisor = new Supervisor<FakeProcess>(
    count,
    {
      fork() {
        forked.push(new FakeProcess())
        return forked.at(-1)!
      },
      processOf: (child) => child as never,
      async begin() {
        if (failure !== null) throw new Error(failure)
      },
      sendStop(child) {
        child.stops++
      },
      logFields: (slot) => ({ slot }),
      messages: { died: 'died', startFailed: 'start failed', heartbeatTimedOut: 'timed out' },
      heartbeatTimeoutMs: 10_000,
      stableMs: 5_000,
      restartDelayMs: (failures) => Math.min(failures * 1_000, 3_000),
      stopTimeoutMs: 30_000,
      ...rules,
    },
    { error: ((fields: object, msg: string) => void logged.push({ ...fields, msg })) as never },
    () => now,
  )
  const pass: World['pass'] = async (seconds, silent = []) => {
    for (let second = 0; second < seconds; second++) {
      now += 1_000
      for (const each of forked) if (!silent.includes(each)) each.sendHeartbeat()
      t.mock.timers.tick(1_000)
      await nextTurn()
    }
  }
  t.after(() => supervisor.release())
  const setFailure: World['setFailure'] = (reason) => {
    failure = reason
  }
  return { supervisor, forked, logged, setFailure, pass }
}

const childrenOf = ({ supervisor }: World): (FakeProcess | null)[] => supervisor.slots.map(({ child }) => child)

test('if the first process is required and cannot begin, the start fails, and no other process starts', async (t) => {
  const world = worldOf(t, 3)
  world.setFailure('no store')
  await assert.rejects(world.supervisor.start({ isFirstRequired: true }), /^Error: no store$/)
  assert.deepEqual(
    world.forked.map(({ kills }) => kills),
    [['SIGKILL']],
  )
  assert.deepEqual(world.supervisor.release(), [])
})

test('a process that cannot begin is logged and retried with a growing delay, without end', async (t) => {
  const world = worldOf(t, 1)
  world.setFailure('no store')
  await world.supervisor.start({ isFirstRequired: false })
  await world.pass(8)
  assert.deepEqual(
    world.logged.map(({ seconds }) => seconds),
    [1, 2, 3, 3],
  )
  assert.deepEqual(world.logged[0], { slot: 1, reason: 'no store', seconds: 1, msg: 'start failed' })
  world.setFailure(null)
  await world.pass(3)
  assert.deepEqual(childrenOf(world), [world.forked.at(-1)])
})

test('a process that dies is replaced in its slot: at once after a stable time, with a delay before it', async (t) => {
  const world = worldOf(t, 2)
  await world.supervisor.start({ isFirstRequired: true })
  const [first, second] = world.forked
  await world.pass(6)
  second!.end(3)
  await world.pass(1)
  assert.deepEqual(world.logged, [{ slot: 2, reason: 3, seconds: 0, msg: 'died' }])
  const third = world.forked[2]!
  assert.deepEqual(childrenOf(world), [first, third])
  third.end(null, 'SIGSEGV')
  assert.deepEqual(world.logged[1], { slot: 2, reason: 'SIGSEGV', seconds: 1, msg: 'died' })
  assert.deepEqual(childrenOf(world), [first, null])
  await world.pass(1)
  assert.deepEqual(childrenOf(world), [first, world.forked[3]])
})

test('a process without a heartbeat is killed and replaced, and its silence can be read', async (t) => {
  const received: boolean[] = []
  const world = worldOf(t, 2, { onHeartbeat: (_, isReady) => void received.push(isReady) })
  await world.supervisor.start({ isFirstRequired: true })
  const [first, second] = world.forked as [FakeProcess, FakeProcess]
  await world.pass(9, [second])
  assert.deepEqual(
    world.supervisor.slots.map((slot) => world.supervisor.millisecondsSilent(slot)),
    [1_000, 9_000],
  )
  await world.pass(1, [second])
  assert.deepEqual(
    world.logged.map(({ msg, slot }) => [msg, slot]),
    [
      ['timed out', 2],
      ['died', 2],
    ],
  )
  assert.deepEqual([first.kills, second.kills], [[], ['SIGKILL']])
  await world.pass(1)
  assert.deepEqual(childrenOf(world), [first, world.forked[2]])
  first.sendHeartbeat(false)
  assert.deepEqual([received.includes(true), received.at(-1)], [true, false])
})

test('a stop tells every process, waits for its end, and kills it at the deadline; nothing is replaced', async (t) => {
  const world = worldOf(t, 2)
  await world.supervisor.start({ isFirstRequired: true })
  const [first, second] = world.forked as [FakeProcess, FakeProcess]
  let isStopped = false
  const stopped = world.supervisor.stop().then(() => {
    isStopped = true
  })
  assert.deepEqual([first.stops, second.stops], [1, 1])
  first.end(0)
  await world.pass(29)
  assert.deepEqual([isStopped, second.kills], [false, []])
  await world.pass(1)
  await stopped
  assert.deepEqual([first.kills, second.kills], [[], ['SIGKILL']])
  assert.deepEqual([world.forked.length, world.logged], [2, []])
})

test('a stop ends a process that has not begun, and starts none that waits for its retry', async (t) => {
  const begun = Promise.withResolvers<void>()
  const world = worldOf(t, 1, { begin: () => begun.promise })
  const started = world.supervisor.start({ isFirstRequired: false })
  const stopped = world.supervisor.stop()
  assert.equal(world.forked[0]!.stops, 1)
  world.forked[0]!.end(0)
  begun.reject(new Error('it ended'))
  await Promise.all([started, stopped])
  await world.pass(5)
  assert.deepEqual([world.forked.length, world.logged], [1, []])
})
