/** The loop of a crawl: spans of visits, one after another, with a pause wherever the crawl cannot trust its eyes or its store. */

import { type CrawlMemory, createCrawlMemory } from './crawl-memory.ts'
import type { CrawlerDependencies } from './dependencies.ts'
import { startProbes } from './probe-runner.ts'
import { serveCrawlRequests } from './queue/crawl-requests.ts'
import { readSlots } from './queue/slot-reader.ts'
import { CrawlPauseError, CrawlSession } from './session.ts'
import { requireHealthy, verifyAndSave, verifyBatches } from './verified-batches.ts'

/** Milliseconds until a crawl that pauses looks again, at first and at most. */
const MIN_RETRY_DELAY_MS = 2_000
const MAX_RETRY_DELAY_MS = 60_000
/** Milliseconds that visits in flight have after the crawl was asked to end. */
const SHUTDOWN_GRACE_MS = 15_000
/** Milliseconds that they have where it goes on: longer than any visit takes. */
const PROBE_DRAIN_MS = 75_000
/** Milliseconds until a crawler hears of those that were started together with it. */
const SECOND_HEARTBEAT_MS = 2_000

/**
 * Crawls until the signal comes: visits in flight are then finished, what they saw is saved, every range given back. Never
 * rejects; what fails is told, and tried again.
 */
export async function runCrawlScheduler(crawl: CrawlerDependencies, signal: AbortSignal): Promise<void> {
  const memory = createCrawlMemory(crawl)
  const heartbeatEnd = new AbortController()
  await sendHeartbeat(crawl, memory)
  const heartbeats = sendHeartbeats(crawl, memory, heartbeatEnd.signal)
  let retryDelay = MIN_RETRY_DELAY_MS
  while (!signal.aborted) {
    const { saved } = crawl.stats.batches
    const pause = await runSession(crawl, memory, signal)
    if (pause === null) break
    if (crawl.stats.batches.saved > saved) retryDelay = MIN_RETRY_DELAY_MS
    await crawl.clock.wait(Math.max(retryDelay, pause.retryAfterMs), signal)
    retryDelay = Math.min(2 * retryDelay, MAX_RETRY_DELAY_MS)
  }
  heartbeatEnd.abort()
  await heartbeats
}

/** One span, from the first good look to its end; what it was given up for, or null where the signal came. */
async function runSession(
  crawl: CrawlerDependencies,
  memory: CrawlMemory,
  signal: AbortSignal,
): Promise<CrawlPauseError | null> {
  const session = new CrawlSession(crawl, memory)
  const stop = (): void => session.end(null)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  const runGuarded = (task: (session: CrawlSession) => Promise<void>): Promise<void> =>
    task(session).catch((error) => pauseSession(session, pauseErrorOf(crawl, error)))
  await runGuarded(openSession)
  const leaseRenewal = renewLeases(session)
  await Promise.all([readSlots, serveCrawlRequests, startProbes, verifyBatches].map(runGuarded))
  await awaitProbes(session, signal)
  if (session.pause === null) await runGuarded(verifyAndSave)
  await runGuarded(closeSession)
  session.finish()
  await leaseRenewal
  signal.removeEventListener('abort', stop)
  return session.pause
}

/** Nothing is visited before eyes and store were found good. */
async function openSession(session: CrawlSession): Promise<void> {
  const { dependencies: crawl, memory } = session
  if (memory.unreleasedLeases.length > 0)
    await crawl.store.schedule.release(memory.unreleasedLeases.map((lease) => ({ lease, sweep: null })))
  memory.unreleasedLeases = []
  await requireHealthy(session)
  if (crawl.stats.pause !== null) crawl.log('crawl resumed')
  crawl.stats.resume()
}

/** The leases of a store that fails are given back when it is there again. */
async function closeSession(session: CrawlSession): Promise<void> {
  const leases = session.leases()
  try {
    await session.release(true)
  } catch (error) {
    session.memory.unreleasedLeases = leases
    throw error
  }
}

/** Until none is in flight any more, or time is up; one that comes later is dropped. */
async function awaitProbes(session: CrawlSession, signal: AbortSignal): Promise<void> {
  const { clock } = session.dependencies
  const startedAt = clock.monotonicMs()
  while (session.probesInFlight > 0) {
    const graceMs = session.pause === null || signal.aborted ? SHUTDOWN_GRACE_MS : PROBE_DRAIN_MS
    const left = startedAt + graceMs - clock.monotonicMs()
    if (left <= 0) return
    await session.probesDone.wait(left)
  }
}

/** Renews the leases until the span is finished, also where the store was away: visits in flight may outlast that. */
async function renewLeases(session: CrawlSession): Promise<void> {
  while (!session.isFinished) {
    await session.renewalDue.wait(session.dependencies.timings.heartbeatMs)
    if (!session.isFinished)
      await session.renew().catch((error) => pauseSession(session, pauseErrorOf(session.dependencies, error)))
  }
}

/** Beats until the signal comes, soon for the first time, and then says that this crawler has ended. */
async function sendHeartbeats(crawl: CrawlerDependencies, memory: CrawlMemory, signal: AbortSignal): Promise<void> {
  let wait = Math.min(SECOND_HEARTBEAT_MS, crawl.timings.heartbeatMs)
  while (!signal.aborted) {
    await crawl.clock.wait(wait, signal)
    if (!signal.aborted) await sendHeartbeat(crawl, memory)
    wait = crawl.timings.heartbeatMs
  }
  await crawl.store.schedule.heartbeat(crawl.holder, null).catch(crawl.onFault)
}

/** Says that this crawler lives, and takes its part of the installation's rate and pace. */
async function sendHeartbeat(
  { store, holder, stats, clock, rate, politeness, onFault }: CrawlerDependencies,
  memory: CrawlMemory,
): Promise<void> {
  try {
    const live = await store.schedule.heartbeat(holder, JSON.stringify(stats.report(clock.monotonicMs())))
    memory.rate.setRate(rate === null ? null : rate / live)
    politeness.setLiveCrawlers(live)
  } catch (error) {
    onFault(error)
  }
}

/** It is told once, however often it is tried again. */
function pauseSession(session: CrawlSession, pause: CrawlPauseError): void {
  const { stats, log } = session.dependencies
  if (stats.pause?.message !== pause.message) log(`crawl paused: ${pause.message}`)
  session.end(pause)
}

/** Whatever else fails is the store, or a fault of the program: both are told whole, and tried again. */
function pauseErrorOf({ onFault }: CrawlerDependencies, error: unknown): CrawlPauseError {
  if (error instanceof CrawlPauseError) return error
  onFault(error)
  return new CrawlPauseError('store', 'the store fails')
}
