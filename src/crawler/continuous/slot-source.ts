/** The request source of a continuous crawl: the due and requested names of leased slot ranges. */

import type { FinishedProbe, ObservedProbe, RequestSource } from '../request-source.ts'
import type { CrawlSession } from '../session.ts'
import type { ProbeOutcome } from '../status/stats.ts'
import type { CrawlMemory } from './crawl-memory.ts'
import { serveCrawlRequests } from './crawl-requests.ts'
import type { CrawlerDependencies } from './crawler-dependencies.ts'
import type { LeasedCandidate } from './held-range.ts'
import { LeasedRanges } from './leased-ranges.ts'
import { settleBatch } from './settle-batch.ts'
import { readSlots } from './slot-reader.ts'

/** Milliseconds that a lease must have left when a probe starts. */
const MIN_LEASE_LEFT_MS = 20_000

export function openSlotSource(
  crawl: CrawlerDependencies,
  memory: CrawlMemory,
  session: CrawlSession<LeasedCandidate>,
): RequestSource<LeasedCandidate> {
  const ranges = new LeasedRanges(crawl, memory, session)
  const closing = new AbortController()
  let renewal = Promise.resolve()
  return {
    async open() {
      await releaseLeftovers(ranges)
      renewal = renewLeases(ranges, closing.signal)
    },
    tasks: [() => readSlots(ranges), () => serveCrawlRequests(ranges)],
    refill: () => Number.POSITIVE_INFINITY,
    isExhausted: () => false,
    mayStart(candidate, now) {
      const isAllowed = mayStart(ranges, candidate, now)
      if (isAllowed) ranges.sinceLastRead.started++
      return isAllowed
    },
    takeBack: (candidate, isRejected) => ranges.takeBack(candidate, isRejected),
    finish: (candidate, probed, outcome) => finishProbe(crawl, candidate, probed, outcome),
    leases: () => ranges.leases(),
    settle: (batch, outcomes) => settleBatch(ranges, batch, outcomes),
    checkpoint: () => ranges.release(),
    close: () =>
      releaseAll(ranges).finally(() => {
        closing.abort()
        return renewal
      }),
  }
}

/** Releases the leases that an earlier session could not release. */
async function releaseLeftovers({ memory, crawl }: LeasedRanges): Promise<void> {
  if (memory.unreleasedLeases.length > 0)
    await crawl.store.schedule.release(memory.unreleasedLeases.map((lease) => ({ lease, sweep: null })))
  memory.unreleasedLeases = []
}

/** Renews the leases until the signal, even after a store failure, because probes in flight may outlast it. */
async function renewLeases(ranges: LeasedRanges, signal: AbortSignal): Promise<void> {
  const { clock, timings } = ranges.crawl
  while (!signal.aborted) {
    await clock.wait(timings.heartbeatMs, signal)
    if (!signal.aborted) await ranges.renew().catch((error) => ranges.session.fail(error))
  }
}

/** Releases the leases. If the store fails, the next session releases them. */
async function releaseAll(ranges: LeasedRanges): Promise<void> {
  const leases = ranges.leases()
  try {
    await ranges.release(true)
  } catch (error) {
    ranges.memory.unreleasedLeases = leases
    throw error
  }
}

/**
 * False while a probe of an earlier session is in flight, or if the lease ends so soon that another crawler may probe
 * too.
 */
function mayStart({ crawl, session }: LeasedRanges, { name, heldRange }: LeasedCandidate, now: number): boolean {
  const isFree = !session.memory.inFlight.has(name) && !crawl.optOut.hasName(name)
  return isFree && heldRange.leasedUntil - now >= MIN_LEASE_LEFT_MS
}

/**
 * A name with a deferred web part is probed again soon. For a new name, the DNS part is saved anyway, so that its
 * targets are known next time.
 */
function finishProbe(
  crawl: CrawlerDependencies,
  candidate: LeasedCandidate,
  probed: ObservedProbe | null,
  outcome: ProbeOutcome,
): FinishedProbe<LeasedCandidate> {
  const { kind, state, readAt } = candidate
  const deferredAt = probed?.result.deferredAt ?? null
  const isSaved = outcome !== 'notProbed' && (deferredAt === null || kind === 'new' || kind === 'lookup')
  const at = probed?.result.at ?? readAt
  if (kind === 'due' && state.due > 0) crawl.stats.recordLag(Math.max(0, at - state.due))
  return { candidate, at, observation: probed !== null && isSaved ? probed.observation : null, outcome, deferredAt }
}
