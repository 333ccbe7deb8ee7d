/** Sentences about jobs: a duty is in one process's hands, every run is noted, and what the dead left running has ended. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { DIED, HOLD_SECONDS, type Hold, type Jobs, RUN_SECONDS, type Run } from '../../../src/store/jobs.ts'
import type { Day } from '../../../src/words/time.ts'
import type { Clock, Engine, Opened } from './engine.ts'
import { NOW, testWithStore } from './world.ts'

const RUNS = 30
const PROCESSES = 3
const DATE = '2026-11-19' as Day

type Deed = 'take' | 'renew' | 'release' | 'nothing'
/** What every process does at once in one round, and how long the next round is away. */
type Round = { deeds: Deed[]; seconds: number }

export const round: fc.Arbitrary<Round> = fc.record({
  deeds: fc.array(fc.constantFrom('take', 'take', 'renew', 'release', 'nothing'), {
    minLength: PROCESSES,
    maxLength: PROCESSES,
  }),
  seconds: fc.constantFrom(0, 1, HOLD_SECONDS - 1, HOLD_SECONDS, HOLD_SECONDS + 1),
})

export function jobs(engine: Engine): void {
  testWithStore(
    engine,
    'a duty is never in the hands of two, and every hold has a higher fence',
    async (_, opened, clock) => {
      const processes = await jobsOf(opened)
      const property = fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 12 }), (rounds) =>
        race(processes, clock, rounds),
      )
      await fc.assert(property, { numRuns: RUNS })
    },
  )

  testWithStore(engine, 'each duty has a holder of its own', async (store, opened) => {
    const other = (await opened.another()).jobs
    const daily = await store.jobs.take('daily', 'a')
    assert.equal(await other.take('daily', 'b'), null)
    const night = await other.take('night', 'b')
    const until = NOW + HOLD_SECONDS
    const all = [
      { ...daily!, holder: 'a', until },
      { ...night!, holder: 'b', until },
    ]
    assert.deepEqual(await store.jobs.holders(), all)
    await store.jobs.release(daily!)
    assert.deepEqual(await other.holders(), all.slice(1))
    assert.equal((await other.take('daily', 'b'))!.fence, daily!.fence + 1)
  })

  testWithStore(engine, 'a hold that was lost prolongs, ends and begins nothing', async (store, opened, clock) => {
    const other = (await opened.another()).jobs
    const lost = (await store.jobs.take('daily', 'a'))!
    clock.now += HOLD_SECONDS
    assert.deepEqual(await other.holders(), [])
    const newer = (await other.take('daily', 'b'))!
    assert.equal(await store.jobs.renew(lost), false)
    await store.jobs.release(lost)
    assert.equal(await store.jobs.begin(lost, 'daily', DATE), null)
    assert.equal(await other.renew(newer), true)
    assert.deepEqual(await other.runs(0), [])
  })

  testWithStore(
    engine,
    'a hold that has run out may be renewed while nobody else has the duty',
    async (store, _, clock) => {
      const hold = (await store.jobs.take('night', 'a'))!
      clock.now += 5 * HOLD_SECONDS
      assert.equal(await store.jobs.renew(hold), true)
      assert.equal(await store.jobs.take('night', 'b'), null)
    },
  )

  testWithStore(engine, 'every run is noted from its beginning to what it came to', async (store, opened, clock) => {
    const hold = (await store.jobs.take('daily', 'a'))!
    const first = (await store.jobs.begin(hold, 'daily', DATE))!
    clock.now += 7
    const run: Run = {
      number: first,
      job: 'daily',
      date: DATE,
      holder: 'a',
      began: NOW,
      ended: null,
      rows: null,
      error: null,
    }
    assert.deepEqual(await store.jobs.runs(0), [run])
    assert.equal(await store.jobs.end(first, { rows: 400_000, error: null }), true)
    assert.equal(await store.jobs.end(first, { rows: 1, error: 'no' }), false, 'once')
    const second = (await store.jobs.begin(hold, 'inbox', null))!
    const words = 'the disk is full: "quoted", é'
    assert.equal(await store.jobs.end(second, { rows: null, error: words }), true)
    const [one, two] = await (await opened.another()).jobs.runs(0)
    assert.deepEqual(one, { ...run, ended: NOW + 7, rows: 400_000 })
    assert.deepEqual([two!.job, two!.date, two!.error], ['inbox', null, words])
    assert.ok(two!.number > one!.number)
    assert.deepEqual(
      (await store.jobs.runs(NOW + 1)).map(({ number }) => number),
      [second],
    )
  })

  testWithStore(
    engine,
    'what a dead process left running has ended when another one takes its duty',
    async (store, opened, clock) => {
      const other = (await opened.another()).jobs
      const daily = (await store.jobs.take('daily', 'a'))!
      const followup = (await store.jobs.take('followup', 'a'))!
      const dead = (await store.jobs.begin(daily, 'daily', DATE))!
      const snapshot = (await store.jobs.take('snapshot', 'a'))!
      await store.jobs.begin(snapshot, 'snapshot', DATE)
      await store.jobs.release(snapshot)
      await store.jobs.begin(followup, 'followup-7', DATE)
      clock.now += HOLD_SECONDS
      await store.jobs.renew(followup)
      await other.take('daily', 'b')
      assert.deepEqual(
        (await other.runs(0)).map(({ job, ended, error }) => [job, ended, error]),
        [
          ['daily', NOW + HOLD_SECONDS, DIED],
          ['snapshot', NOW + HOLD_SECONDS, DIED],
          ['followup-7', null, null],
        ],
      )
      assert.equal(await store.jobs.end(dead, { rows: 1, error: null }), false)
    },
  )

  testWithStore(engine, 'runs are kept for 400 days', async (store, _, clock) => {
    const hold = (await store.jobs.take('snapshot', 'a'))!
    await store.jobs.begin(hold, 'snapshot', DATE)
    clock.now += RUN_SECONDS
    await store.jobs.begin(hold, 'followup-7', DATE)
    assert.equal((await store.jobs.runs(0)).length, 2)
    clock.now++
    await store.jobs.begin(hold, 'snapshot', DATE)
    assert.deepEqual(
      (await store.jobs.runs(0)).map(({ job }) => job),
      ['followup-7', 'snapshot'],
    )
  })

  testWithStore(engine, 'a clock that is set back keeps no duty from anybody for long', async (store, _, clock) => {
    await store.jobs.take('daily', 'a')
    clock.now -= 86_400
    assert.notEqual(await store.jobs.take('daily', 'b'), null)
  })
}

async function jobsOf(opened: Opened): Promise<Jobs[]> {
  const stores = [opened.store]
  while (stores.length < PROCESSES) stores.push(await opened.another())
  return stores.map((store) => store.jobs)
}

/** What a process believes to have. */
type Belief = { hold: Hold; until: number }

/** Plays rounds, and after each of them looks at what the processes believe. */
async function race(processes: readonly Jobs[], clock: Clock, rounds: readonly Round[]): Promise<void> {
  const beliefs: (Belief | null)[] = processes.map(() => null)
  let fence = 0
  for (const { deeds, seconds } of rounds) {
    const standing = beliefs.some((belief) => belief !== null && belief.until > clock.now)
    const taken = await Promise.all(
      deeds.map(async (deed, place) => {
        const fresh = await act(processes[place]!, beliefs[place]!, deed)
        const until = clock.now + HOLD_SECONDS
        if (deed === 'take' ? fresh !== null : deed !== 'nothing') beliefs[place] = fresh && { hold: fresh, until }
        return deed === 'take' && fresh !== null ? [fresh.fence] : []
      }),
    )
    for (const each of taken.flat()) {
      assert.ok(each > fence, `fence ${each} after ${fence}`)
    }
    fence = Math.max(fence, ...taken.flat())
    const holders = beliefs.filter((belief) => belief !== null && belief.until > clock.now)
    assert.ok(holders.length <= 1, `${holders.length} hold it`)
    if (!standing && deeds.includes('take') && !deeds.includes('renew'))
      assert.ok(taken.flat().length > 0, 'nobody got it')
    clock.now += seconds
  }
  clock.now += HOLD_SECONDS
  const last = await processes[0]!.take('night', 'last')
  assert.notEqual(last, null, 'the dead block nothing')
  await processes[0]!.release(last!)
}

async function act(jobs: Jobs, belief: Belief | null, deed: Deed): Promise<Hold | null> {
  if (deed === 'take') return jobs.take('night', 'one of three')
  if (belief === null || deed === 'nothing') return null
  if (deed === 'renew') return (await jobs.renew(belief.hold)) ? belief.hold : null
  await jobs.release(belief.hold)
  return null
}
