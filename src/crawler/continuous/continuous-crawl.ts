/** The continuous crawl: runs the scheduler with the leased slot ranges of the store, and sends heartbeats. */

import { CRAWL_REQUEST_KINDS, type CrawlRequestKind } from '../../store/port/crawl-requests.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { createProbeRateLimit, type ProbeRateLimit } from '../queue/probe-rate-limit.ts'
import type { FinishedProbe, ObservedProbe, RequestSource } from '../request-source.ts'
import { storeSink } from '../result-sink.ts'
import { runCrawlScheduler } from '../scheduler.ts'
import { CrawlPauseError, type CrawlSession, type SchedulerDependencies } from '../session.ts'
import type { ProbeOutcome } from '../status/stats.ts'
import { admitCandidates, type SlotCandidate, withoutOptedOut } from './admission.ts'
import { type CrawlMemory, createCrawlMemory } from './crawl-memory.ts'
import type { CrawlerDependencies } from './crawler-dependencies.ts'
import type { HeldRange, LeasedCandidate } from './held-range.ts'
import { LeasedRanges } from './leased-ranges.ts'
import { settleBatch } from './settle-batch.ts'
import { readSlots } from './slot-reader.ts'

/** Maximum of ranges leased for crawl requests at once. */
const MAX_LEASED_RANGES = 8

/** Maximum of requested names read per range. */
const MAX_NAMES_PER_RANGE = 1_000

/** Milliseconds after which a lookup request expires, and without an attempt after which it counts as new. */
const LOOKUP_REQUEST_EXPIRY_MS = 86_400_000
const LOOKUP_REQUEST_FORGET_MS = 3_600_000

/** Milliseconds that a lease must have left when a probe starts. */
const MIN_LEASE_LEFT_MS = 20_000

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

/** The request source of a continuous crawl: the due and requested names of leased slot ranges. */
function openSlotSource(
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

/** Crawl requests: names to probe soon, also in ranges that this crawler already holds. */
async function serveCrawlRequests(ranges: LeasedRanges): Promise<void> {
  const { session, crawl } = ranges
  const last = new Map<CrawlRequestKind, number>()
  while (!session.isEnding) {
    for (const kind of CRAWL_REQUEST_KINDS)
      last.set(kind, await serveRequestsOfKind(ranges, kind, last.get(kind) ?? -1))
    await crawl.clock.wait(crawl.timings.pollMs, session.ending)
  }
}

/** Leases ranges in rotation, starting after `last`. Returns the last one of this round. */
async function serveRequestsOfKind(ranges: LeasedRanges, kind: CrawlRequestKind, last: number): Promise<number> {
  const { session, crawl } = ranges
  const requested = await crawl.store.crawlRequests.ranges(kind)
  const [heldRanges, free]: [HeldRange[], number[]] = [[], []]
  for (const range of requested) {
    const heldRange = ranges.heldRanges.get(range)
    if (heldRange === undefined) free.push(range)
    else heldRanges.push(heldRange)
  }
  const next = session.queue.capacityLeft(kind) > 0 ? rotateAfter(last, free) : []
  const leased = next.length > 0 ? await ranges.lease(MAX_LEASED_RANGES, next) : []
  for (const range of [...heldRanges, ...leased]) {
    if (session.isEnding) return last
    if (session.queue.capacityLeft(kind) > 0) await admitRequested(ranges, kind, range)
  }
  for (const range of leased) range.isReading = false
  if (leased.length > 0) await ranges.release()
  return next.at(-1) ?? last
}

/** Rotates the ranges, so that a range without names that can be probed now does not block the others. */
function rotateAfter(last: number, ranges: readonly number[]): number[] {
  const first = Math.max(
    0,
    ranges.findIndex((range) => range > last),
  )
  return [...ranges.slice(first), ...ranges.slice(0, first)].slice(0, MAX_LEASED_RANGES)
}

async function admitRequested(ranges: LeasedRanges, kind: CrawlRequestKind, range: HeldRange): Promise<void> {
  const { store, clock } = ranges.crawl
  const requestedNames = await store.crawlRequests.inRange(kind, range.lease.range, MAX_NAMES_PER_RANGE)
  const now = clock.monotonicMs()
  const expired = kind === 'lookup' ? requestedNames.filter((name) => isRequestExpired(ranges, name, now)) : []
  if (expired.length > 0) await store.crawlRequests.complete(kind, expired)
  for (const name of expired) ranges.memory.lookupRequests.delete(name)
  const missing = requestedNames.filter(
    (name) => !expired.includes(name) && !promoteCandidate(ranges, name, kind) && !isBackedOff(ranges, name, now),
  )
  if (missing.length === 0) return
  const at = await store.now()
  const states = await store.observations.crawlStates(missing)
  const requested = await withoutOptedOut(
    ranges,
    states.filter(({ forgotten }) => !forgotten),
    at,
  )
  const rejected = new Set<DomainName>(missing)
  for (const { name } of requested) rejected.delete(name)
  if (rejected.size > 0) await store.crawlRequests.complete(kind, [...rejected])
  await admitCandidates(
    ranges,
    requested.map((state): SlotCandidate => ({ state, range, requestKind: kind, readAt: at })),
  )
}

/**
 * Adds the request to a name that is already a candidate, and moves it to the kind of the request. Returns false if it
 * is neither a candidate nor in flight.
 */
function promoteCandidate({ session }: LeasedRanges, name: DomainName, kind: CrawlRequestKind): boolean {
  const candidate = session.candidates.get(name)
  if (candidate === undefined) return session.memory.inFlight.has(name)
  candidate.requests.add(kind)
  if (candidate.kind === 'due' || candidate.kind === 'new') session.queue.promote(candidate, kind)
  return true
}

/** Whether a lookup request has waited for a day without a probe. Another lookup may request the name again. */
function isRequestExpired({ memory }: LeasedRanges, name: DomainName, now: number): boolean {
  const previous = memory.lookupRequests.get(name)
  const since = previous !== undefined && now - previous.latest < LOOKUP_REQUEST_FORGET_MS ? previous.since : now
  memory.lookupRequests.set(name, { since, latest: now })
  return now - since >= LOOKUP_REQUEST_EXPIRY_MS
}

function isBackedOff({ memory }: LeasedRanges, name: DomainName, now: number): boolean {
  const until = memory.backedOff.get(name)
  if (until === undefined) return false
  if (until > now) return true
  memory.backedOff.delete(name)
  return false
}
