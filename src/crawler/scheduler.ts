/** The crawl scheduler: runs one session after another, and pauses if the self-check or the store fails. */

import { INITIAL_ANOMALY_STATE } from './anomaly/anomaly-detector.ts'
import { startProbes } from './probe-runner.ts'
import type { Candidate } from './request-source.ts'
import { type CrawlPauseError, CrawlSession, type SchedulerDependencies, type SessionMemory } from './session.ts'
import { requireHealthy, verifyAndSave, verifyBatches } from './verified-batches.ts'

/** Milliseconds until a paused crawl retries, at first and at most. */
const MIN_RETRY_DELAY_MS = 2_000
const MAX_RETRY_DELAY_MS = 60_000
/** Milliseconds for probes in flight after the crawl was stopped. */
const SHUTDOWN_GRACE_MS = 15_000
/** Milliseconds for probes in flight if the crawl continues. Longer than any probe takes. */
const PROBE_DRAIN_MS = 75_000

/**
 * Crawls until the signal or until the source ends a session. Then it finishes the probes in flight and saves their
 * results. Throws an error after which the crawl does not continue.
 */
export async function runCrawlScheduler<C extends Candidate>(
  crawl: SchedulerDependencies<C>,
  signal: AbortSignal,
): Promise<void> {
  const memory: SessionMemory = { inFlight: new Set(), anomalyState: INITIAL_ANOMALY_STATE }
  let retryDelay = MIN_RETRY_DELAY_MS
  while (!signal.aborted) {
    const { saved } = crawl.stats.batches
    const pause = await runSession(crawl, memory, signal)
    if (pause === null) break
    if (crawl.stats.batches.saved > saved) retryDelay = MIN_RETRY_DELAY_MS
    await crawl.clock.wait(Math.max(retryDelay, pause.retryAfterMs), signal)
    retryDelay = Math.min(2 * retryDelay, MAX_RETRY_DELAY_MS)
  }
}

/** Runs one session, from its first self-check to its end. Returns why it was paused, or null if the crawl is over. */
async function runSession<C extends Candidate>(
  crawl: SchedulerDependencies<C>,
  memory: SessionMemory,
  signal: AbortSignal,
): Promise<CrawlPauseError | null> {
  const session = new CrawlSession(crawl, memory)
  const stop = (): void => session.end(null)
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  const runGuarded = (task: (session: CrawlSession<C>) => Promise<void>): Promise<void> =>
    task(session).catch((error) => session.fail(error))
  await runGuarded(openSession)
  await Promise.all([...(session.source.tasks ?? []), startProbes, verifyBatches].map(runGuarded))
  await awaitProbes(session, signal)
  if (session.pause === null && session.failure === null && session.finished.length > 0) await runGuarded(verifyAndSave)
  await runGuarded(() => session.source.close())
  signal.removeEventListener('abort', stop)
  if (session.failure !== null) throw session.failure.error
  return session.pause
}

/** Starts no probe before the self-check and the store are healthy. */
async function openSession<C extends Candidate>({ dependencies, source }: CrawlSession<C>): Promise<void> {
  await source.open?.()
  await requireHealthy(dependencies)
  const { stats, log } = dependencies
  if (stats.pause !== null) log('crawl resumed')
  stats.resume()
}

/** Waits until no probe is in flight or the time is up. Later results are dropped. */
async function awaitProbes<C extends Candidate>(session: CrawlSession<C>, signal: AbortSignal): Promise<void> {
  const { clock } = session.dependencies
  const startedAt = clock.monotonicMs()
  while (session.probesInFlight > 0) {
    const graceMs = session.pause === null || signal.aborted ? SHUTDOWN_GRACE_MS : PROBE_DRAIN_MS
    const left = startedAt + graceMs - clock.monotonicMs()
    if (left <= 0) return
    await session.probesDone.wait(left)
  }
}
