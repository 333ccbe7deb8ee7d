/** Tests of jobs: one process holds a named lock, every run is recorded, and the runs of dead processes are ended. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  type JobRun,
  type Jobs,
  LOCK_SECONDS,
  type LockHold,
  PROCESS_DIED_MESSAGE,
  RUN_RETENTION_SECONDS,
} from '../../../../src/store/port/jobs.ts'
import type { Day } from '../../../../src/values/time.ts'
import { inForm } from '../../../long.ts'
import type { Clock, Engine, Opened } from '../engine.ts'
import { NOW, testWithStore } from '../world.ts'

const RUNS = inForm(10, 30)
const PROCESSES = 3
const DATE = '2026-11-19' as Day

type Operation = 'take' | 'renew' | 'release' | 'nothing'
/** The operations of every process in one round, and the seconds until the next round. */
type Round = { operations: Operation[]; seconds: number }

export const round: fc.Arbitrary<Round> = fc.record({
  operations: fc.array(fc.constantFrom('take', 'take', 'renew', 'release', 'nothing'), {
    minLength: PROCESSES,
    maxLength: PROCESSES,
  }),
  seconds: fc.constantFrom(0, 1, LOCK_SECONDS - 1, LOCK_SECONDS, LOCK_SECONDS + 1),
})

export function jobs(engine: Engine): void {
  testWithStore(
    engine,
    'two processes never hold a named lock at once, and every hold has a higher fencing token',
    async (_, opened, clock) => {
      const processes = await jobsOf(opened)
      const property = fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 12 }), (rounds) =>
        race(processes, clock, rounds),
      )
      await fc.assert(property, { numRuns: RUNS })
    },
  )

  testWithStore(engine, 'each named lock has its own holder', async (store, opened) => {
    const other = (await opened.another()).jobs
    const daily = await store.jobs.acquireLock('daily', 'a')
    assert.equal(await other.acquireLock('daily', 'b'), null)
    const night = await other.acquireLock('scheduler', 'b')
    const expiresAt = NOW + LOCK_SECONDS
    const all = [
      { ...daily!, holder: 'a', expiresAt },
      { ...night!, holder: 'b', expiresAt },
    ]
    assert.deepEqual(await store.jobs.lockHolders(), all)
    await store.jobs.releaseLock(daily!)
    assert.deepEqual(await other.lockHolders(), all.slice(1))
    assert.equal((await other.acquireLock('daily', 'b'))!.fence, daily!.fence + 1)
  })

  testWithStore(
    engine,
    'a lost hold cannot be extended or released, and cannot start a run',
    async (store, opened, clock) => {
      const other = (await opened.another()).jobs
      const lost = (await store.jobs.acquireLock('daily', 'a'))!
      clock.now += LOCK_SECONDS
      assert.deepEqual(await other.lockHolders(), [])
      const newer = (await other.acquireLock('daily', 'b'))!
      assert.equal(await store.jobs.renewLock(lost), false)
      await store.jobs.releaseLock(lost)
      assert.equal(await store.jobs.startRun(lost, 'daily', DATE), null)
      assert.equal(await other.renewLock(newer), true)
      assert.deepEqual(await other.runs(0), [])
    },
  )

  testWithStore(
    engine,
    'an expired hold may be extended while no other process has the lock',
    async (store, _, clock) => {
      const hold = (await store.jobs.acquireLock('scheduler', 'a'))!
      clock.now += 5 * LOCK_SECONDS
      assert.equal(await store.jobs.renewLock(hold), true)
      assert.equal(await store.jobs.acquireLock('scheduler', 'b'), null)
    },
  )

  testWithStore(engine, 'every run is recorded from its start to its outcome', async (store, opened, clock) => {
    const hold = (await store.jobs.acquireLock('daily', 'a'))!
    const first = (await store.jobs.startRun(hold, 'daily', DATE))!
    clock.now += 7
    const run: JobRun = {
      number: first,
      job: 'daily',
      date: DATE,
      holder: 'a',
      startedAt: NOW,
      endedAt: null,
      rows: null,
      error: null,
    }
    assert.deepEqual(await store.jobs.runs(0), [run])
    assert.equal(await store.jobs.endRun(first, { rows: 400_000, error: null }), true)
    assert.equal(await store.jobs.endRun(first, { rows: 1, error: 'no' }), false, 'once')
    const second = (await store.jobs.startRun(hold, 'inbox', null))!
    const words = 'the disk is full: "quoted", é'
    assert.equal(await store.jobs.endRun(second, { rows: null, error: words }), true)
    const [one, two] = await (await opened.another()).jobs.runs(0)
    assert.deepEqual(one, { ...run, endedAt: NOW + 7, rows: 400_000 })
    assert.deepEqual([two!.job, two!.date, two!.error], ['inbox', null, words])
    assert.ok(two!.number > one!.number)
    assert.deepEqual(
      (await store.jobs.runs(NOW + 1)).map(({ number }) => number),
      [second],
    )
  })

  testWithStore(
    engine,
    'a run that a dead process left running is ended when another process acquires the lock',
    async (store, opened, clock) => {
      const other = (await opened.another()).jobs
      const daily = (await store.jobs.acquireLock('daily', 'a'))!
      const followup = (await store.jobs.acquireLock('followup', 'a'))!
      const dead = (await store.jobs.startRun(daily, 'daily', DATE))!
      const snapshot = (await store.jobs.acquireLock('snapshot', 'a'))!
      await store.jobs.startRun(snapshot, 'snapshot', DATE)
      await store.jobs.releaseLock(snapshot)
      await store.jobs.startRun(followup, 'followup-7', DATE)
      clock.now += LOCK_SECONDS
      await store.jobs.renewLock(followup)
      await other.acquireLock('daily', 'b')
      assert.deepEqual(
        (await other.runs(0)).map(({ job, endedAt: ended, error }) => [job, ended, error]),
        [
          ['daily', NOW + LOCK_SECONDS, PROCESS_DIED_MESSAGE],
          ['snapshot', NOW + LOCK_SECONDS, PROCESS_DIED_MESSAGE],
          ['followup-7', null, null],
        ],
      )
      assert.equal(await store.jobs.endRun(dead, { rows: 1, error: null }), false)
    },
  )

  testWithStore(engine, 'runs are kept for 400 days', async (store, _, clock) => {
    const hold = (await store.jobs.acquireLock('snapshot', 'a'))!
    await store.jobs.startRun(hold, 'snapshot', DATE)
    clock.now += RUN_RETENTION_SECONDS
    await store.jobs.startRun(hold, 'followup-7', DATE)
    assert.equal((await store.jobs.runs(0)).length, 2)
    clock.now++
    await store.jobs.startRun(hold, 'snapshot', DATE)
    assert.deepEqual(
      (await store.jobs.runs(0)).map(({ job }) => job),
      ['followup-7', 'snapshot'],
    )
  })

  testWithStore(engine, 'if the clock is set back, no lock stays blocked for long', async (store, _, clock) => {
    await store.jobs.acquireLock('daily', 'a')
    clock.now -= 86_400
    assert.notEqual(await store.jobs.acquireLock('daily', 'b'), null)
  })
}

async function jobsOf(opened: Opened): Promise<Jobs[]> {
  const stores = [opened.store]
  while (stores.length < PROCESSES) stores.push(await opened.another())
  return stores.map((store) => store.jobs)
}

/** What a process believes to hold. */
type Belief = { hold: LockHold; until: number }

/** Plays rounds, and checks after each of them what the processes believe. */
async function race(processes: readonly Jobs[], clock: Clock, rounds: readonly Round[]): Promise<void> {
  const beliefs: (Belief | null)[] = processes.map(() => null)
  let fence = 0
  for (const { operations, seconds } of rounds) {
    const standing = beliefs.some((belief) => belief !== null && belief.until > clock.now)
    const taken = await Promise.all(
      operations.map(async (operation, place) => {
        const fresh = await act(processes[place]!, beliefs[place]!, operation)
        const until = clock.now + LOCK_SECONDS
        if (operation === 'take' ? fresh !== null : operation !== 'nothing')
          beliefs[place] = fresh && { hold: fresh, until }
        return operation === 'take' && fresh !== null ? [fresh.fence] : []
      }),
    )
    for (const each of taken.flat()) {
      assert.ok(each > fence, `fence ${each} after ${fence}`)
    }
    fence = Math.max(fence, ...taken.flat())
    const holders = beliefs.filter((belief) => belief !== null && belief.until > clock.now)
    assert.ok(holders.length <= 1, `${holders.length} hold it`)
    if (!standing && operations.includes('take') && !operations.includes('renew'))
      assert.ok(taken.flat().length > 0, 'nobody got it')
    clock.now += seconds
  }
  clock.now += LOCK_SECONDS
  const last = await processes[0]!.acquireLock('scheduler', 'last')
  assert.notEqual(last, null, 'the dead block nothing')
  await processes[0]!.releaseLock(last!)
}

async function act(jobs: Jobs, belief: Belief | null, operation: Operation): Promise<LockHold | null> {
  if (operation === 'take') return jobs.acquireLock('scheduler', 'one of three')
  if (belief === null || operation === 'nothing') return null
  if (operation === 'renew') return (await jobs.renewLock(belief.hold)) ? belief.hold : null
  await jobs.releaseLock(belief.hold)
  return null
}
