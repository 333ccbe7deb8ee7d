/** The continuous crawl: runs the scheduler with the leased slot ranges of the store, and sends heartbeats. */

import { createProbeRateLimit, type ProbeRateLimit } from '../queue/probe-rate-limit.ts'
import { storeSink } from '../result-sink.ts'
import { runCrawlScheduler } from '../scheduler.ts'
import { CrawlPauseError, type SchedulerDependencies } from '../session.ts'
import { createCrawlMemory } from './crawl-memory.ts'
import type { CrawlerDependencies } from './crawler-dependencies.ts'
import type { LeasedCandidate } from './held-range.ts'
import { openSlotSource } from './slot-source.ts'

/** A name with a longer wait at its targets returns to its slot. In milliseconds. */
export const MAX_DELAY_MS = 20_000
/** One in this many probes runs twice at once. */
const REPEAT_ONE_IN = 1_000
/** Milliseconds until the second heartbeat, which counts crawlers that started at the same time. */
const SECOND_HEARTBEAT_MS = 2_000

/**
 * Crawls until the signal. Then it finishes the probes in flight, saves their results and releases every range. Never
 * rejects. It reports failures and retries.
 */
export async function crawlContinuously(crawl: CrawlerDependencies, signal: AbortSignal): Promise<void> {
  const rateLimit = createProbeRateLimit(crawl.rate)
  const heartbeatEnd = new AbortController()
  await sendHeartbeat(crawl, rateLimit)
  const heartbeats = sendHeartbeats(crawl, rateLimit, heartbeatEnd.signal)
  await runCrawlScheduler(schedulerOf(crawl, rateLimit), signal)
  heartbeatEnd.abort()
  await heartbeats
}

function schedulerOf(crawl: CrawlerDependencies, rateLimit: ProbeRateLimit): SchedulerDependencies<LeasedCandidate> {
  const { store, intervals, timings, random, onFault } = crawl
  const memory = createCrawlMemory()
  return {
    ...crawl,
    rateLimit,
    openSource: (session) => openSlotSource(crawl, memory, session),
    sink: storeSink(store, intervals),
    batchMs: timings.batchMs,
    idleCheckMs: timings.batchMs,
    maxDelayMs: MAX_DELAY_MS,
    isRepeated: () => random() < 1 / REPEAT_ONE_IN,
    onProbeError: (_, error) => onFault(error),
    pauseAfter(error) {
      onFault(error)
      return new CrawlPauseError('store', 'the store failed')
    },
  }
}

/** Sends heartbeats until the signal, the first one early, and then reports that this crawler ended. */
async function sendHeartbeats(
  crawl: CrawlerDependencies,
  rateLimit: ProbeRateLimit,
  signal: AbortSignal,
): Promise<void> {
  let wait = Math.min(SECOND_HEARTBEAT_MS, crawl.timings.heartbeatMs)
  while (!signal.aborted) {
    await crawl.clock.wait(wait, signal)
    if (!signal.aborted) await sendHeartbeat(crawl, rateLimit)
    wait = crawl.timings.heartbeatMs
  }
  await crawl.store.schedule.heartbeat(crawl.holder, null).catch(crawl.onFault)
}

/** Reports that this crawler is alive, and updates its share of the installation's rate limits. */
async function sendHeartbeat(
  { store, holder, stats, clock, rate, politeness, onFault }: CrawlerDependencies,
  rateLimit: ProbeRateLimit,
): Promise<void> {
  try {
    const live = await store.schedule.heartbeat(holder, JSON.stringify(stats.report(clock.monotonicMs())))
    rateLimit.setRate(rate === null ? null : rate / live)
    politeness.setLiveCrawlers(live)
  } catch (error) {
    onFault(error)
  }
}
