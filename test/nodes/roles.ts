/** The processes of the simulation: real quota limiters, crawlers and job schedulers over simulated nodes. */

import type { VirtualClock } from '../../bench/crawl-simulation/clock.ts'
import { startCrawler } from '../../bench/crawl-simulation/crawler.ts'
import { probeResultOf } from '../../bench/crawl-simulation/network.ts'
import { type RandomSource, randomInt } from '../../bench/world/random.ts'
import { DEFAULT_PLAN_LIMITS } from '../../src/accounts/plan.ts'
import type { Caller } from '../../src/api/auth/authenticator.ts'
import { ApiError } from '../../src/api/http/errors.ts'
import { QuotaLimiter } from '../../src/api/quota/quota-limiter.ts'
import { CRAWL_TIMINGS } from '../../src/crawler/continuous/crawler-dependencies.ts'
import { runJobScheduler } from '../../src/jobs/job-scheduler.ts'
import { readPlanInputs } from '../../src/jobs/steps.ts'
import { monitorStore, type StoreMonitor } from '../../src/server/processes/store-monitor.ts'
import type { LockName } from '../../src/store/port/jobs.ts'
import type { Store } from '../../src/store/port/store.ts'
import { type Day, dayOf } from '../../src/values/time.ts'
import type { Books } from './books.ts'
import { type BuiltFiles, buildStep, ROUND_SECONDS } from './built-files.ts'
import type { SimulatedNode } from './simulated-node.ts'
import type { Witness } from './witness.ts'

/** Calls of clients, spread over `seconds`. The first `free` of them cost nothing. */
type Calls = { count: number; free: number; seconds: number }

/** A running process. */
export type Running = {
  /** Ends it in an orderly way. */
  stop(): Promise<void>
  /** Clients call it; only an API node answers. */
  call(calls: Calls): void
}

export type Surroundings = {
  clock: VirtualClock
  random: RandomSource
  books: Books
  files: BuiltFiles
  witness: Witness
  /** Called with the faults that a process reports. */
  onFault(fault: unknown): void
}

/** The number of a process's account in the ledger. */
export const ACCOUNT = 1
const MAX_ANSWER_MS = 50
const PROBE_MS = { min: 50, max: 3_000 }
/** Seconds between two probes of a name: short, so that names are probed throughout a history. */
const INTERVALS = { min: 40, first: 40, max: 80 }
/** Slower than in production, because every poll costs real time. */
const TIMINGS = { ...CRAWL_TIMINGS, pollMs: 5_000, sweepSeconds: { min: 20, max: 60 } }

const followStore = (node: SimulatedNode, store: Store): Promise<StoreMonitor> =>
  monitorStore(
    { now: store.now, probe: async () => {} },
    () => {},
    () => {},
    // a reading per second would cost most of the time of a run
    { ...node.clock, every: (_, work) => node.clock.every(10_000, work) },
  )

export async function startApi(node: SimulatedNode, store: Store, around: Surroundings): Promise<Running> {
  const { books, random, onFault } = around
  const monitor = await followStore(node, store)
  const limiter = new QuotaLimiter({ ledger: store.ledger, holder: node.holder, onFault, timers: node.clock })
  /** The calls in progress: their units are lost if the process dies. */
  const inFlight = new Map<Day, number>()
  node.onDeath(() => books.lose(inFlight))
  const answer = async (isFree: boolean): Promise<void> => {
    if (node.isDead) return
    const now = monitor.now()
    const limits = { ...DEFAULT_PLAN_LIMITS.free, dailyCalls: books.limit }
    const caller = { account: { id: ACCOUNT }, token: 1, limits, now, today: dayOf(now) } as Caller
    inFlight.set(caller.today, (inFlight.get(caller.today) ?? 0) + 1)
    try {
      const reservation = await limiter.reserve(caller)
      await node.clock.wait(randomInt(random, MAX_ANSWER_MS))
      if (isFree) await reservation.release()
      else {
        reservation.charge('lookup')
        books.answer(caller.today)
      }
    } catch (error) {
      if (error instanceof ApiError) books.refused++
      else onFault(error)
    }
    inFlight.set(caller.today, inFlight.get(caller.today)! - 1)
  }
  return {
    call({ count, free, seconds }) {
      for (let index = 0; index < count; index++)
        void around.clock.wait((index * seconds * 1_000) / count).then(() => answer(index < free))
    },
    async stop() {
      monitor.close()
      await limiter.close()
    },
  }
}

export async function startCrawl(node: SimulatedNode, store: Store, around: Surroundings): Promise<Running> {
  const { clock, random, onFault } = around
  const monitor = await followStore(node, store)
  const { stop, ended } = startCrawler({
    ...{ holder: node.holder, store, clock, random, timings: TIMINGS, rate: null },
    async probe(name) {
      await node.clock.wait(PROBE_MS.min + randomInt(random, PROBE_MS.max - PROBE_MS.min), new AbortController().signal)
      return probeResultOf(name, monitor.now(), randomInt(random, 1_000_000))
    },
    overrides: { clock: node.clock, intervals: INTERVALS, onFault },
  })
  return {
    call() {},
    async stop() {
      stop()
      await ended
      monitor.close()
    },
  }
}

export async function startJobs(node: SimulatedNode, store: Store, around: Surroundings): Promise<Running> {
  const { files, witness, onFault, random } = around
  const ending = new AbortController()
  const { registrations } = files
  const isLocked = (lock: LockName): boolean => witness.isOwner(lock, node.holder)
  const ended = runJobScheduler(
    {
      ...{ store, holder: node.holder, clock: node.clock },
      readInputs: async () => ({
        ...(await readPlanInputs({ store, fileStore: files.fileStore, registrations, inboxRecheckAt: () => null })),
        times: [ROUND_SECONDS],
        followupWait: 60,
      }),
      run: (step, lock) => buildStep(step, lock, { node, store, files, random, isLocked }),
      events: { done() {}, failed: (_, error) => onFault(error) },
    },
    ending.signal,
  )
  return {
    call() {},
    async stop() {
      ending.abort()
      await ended
    },
  }
}
