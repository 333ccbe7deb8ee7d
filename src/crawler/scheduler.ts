/** The crawl scheduler: runs one session after another, and pauses if the self-check or the store fails. */

import { type CrawlMemory, createCrawlMemory } from './crawl-memory.ts'
import type { CrawlerDependencies } from './dependencies.ts'
import { startProbes } from './probe-runner.ts'
import { serveCrawlRequests } from './queue/crawl-requests.ts'
import { readSlots } from './queue/slot-reader.ts'
import { CrawlPauseError, CrawlSession } from './session.ts'
import { requireHealthy, verifyAndSave, verifyBatches } from './verified-batches.ts'

/** Milliseconds until a paused crawl retries, at first and at most. */
const MIN_RETRY_DELAY_MS = 2_000
const MAX_RETRY_DELAY_MS = 60_000
/** Milliseconds for probes in flight after the crawl was stopped. */
const SHUTDOWN_GRACE_MS = 15_000
/** Milliseconds for probes in flight if the crawl continues. Longer than any probe takes. */
const PROBE_DRAIN_MS = 75_000
/** Milliseconds until the second heartbeat, which counts crawlers that started at the same time. */
const SECOND_HEARTBEAT_MS = 2_000

/**
 * Crawls until the signal. Then it finishes the probes in flight, saves their results and releases every range. Never
 * rejects. It reports failures and retries.
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

/** Runs one session, from its first self-check to its end. Returns why it was paused, or null after the signal. */
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

/** Starts no probe before the self-check and the store are healthy. */
async function openSession(session: CrawlSession): Promise<void> {
  const { dependencies: crawl, memory } = session
  if (memory.unreleasedLeases.length > 0)
    await crawl.store.schedule.release(memory.unreleasedLeases.map((lease) => ({ lease, sweep: null })))
  memory.unreleasedLeases = []
  await requireHealthy(session)
  if (crawl.stats.pause !== null) crawl.log('crawl resumed')
  crawl.stats.resume()
}

/** Releases the leases. If the store fails, the next session releases them. */
async function closeSession(session: CrawlSession): Promise<void> {
  const leases = session.leases()
  try {
    await session.release(true)
  } catch (error) {
    session.memory.unreleasedLeases = leases
    throw error
  }
}

/** Waits until no probe is in flight or the time is up. Later results are dropped. */
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

/**
 * Renews the leases until the session is finished, even after a store failure, because probes in flight may outlast it.
 */
async function renewLeases(session: CrawlSession): Promise<void> {
  while (!session.isFinished) {
    await session.renewalDue.wait(session.dependencies.timings.heartbeatMs)
    if (!session.isFinished)
      await session.renew().catch((error) => pauseSession(session, pauseErrorOf(session.dependencies, error)))
  }
}

/** Sends heartbeats until the signal, the first one early, and then reports that this crawler ended. */
async function sendHeartbeats(crawl: CrawlerDependencies, memory: CrawlMemory, signal: AbortSignal): Promise<void> {
  let wait = Math.min(SECOND_HEARTBEAT_MS, crawl.timings.heartbeatMs)
  while (!signal.aborted) {
    await crawl.clock.wait(wait, signal)
    if (!signal.aborted) await sendHeartbeat(crawl, memory)
    wait = crawl.timings.heartbeatMs
  }
  await crawl.store.schedule.heartbeat(crawl.holder, null).catch(crawl.onFault)
}

/** Reports that this crawler is alive, and updates its share of the installation's rate limits. */
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

/** Pauses the session. Logs each reason once, even if retries fail. */
function pauseSession(session: CrawlSession, pause: CrawlPauseError): void {
  const { stats, log } = session.dependencies
  if (stats.pause?.message !== pause.message) log(`crawl paused: ${pause.message}`)
  session.end(pause)
}

/**
 * Turns any other error into a pause. It is a store failure or a program error. Both are reported in full and retried.
 */
function pauseErrorOf({ onFault }: CrawlerDependencies, error: unknown): CrawlPauseError {
  if (error instanceof CrawlPauseError) return error
  onFault(error)
  return new CrawlPauseError('store', 'the store failed')
}
