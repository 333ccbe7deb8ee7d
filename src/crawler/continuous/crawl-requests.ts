/** Crawl requests: names to probe soon, also in ranges that this crawler already holds. */

import { CRAWL_REQUEST_KINDS, type CrawlRequestKind } from '../../store/port/crawl-requests.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { admitCandidates, type SlotCandidate, withoutOptedOut } from './admission.ts'
import type { HeldRange } from './held-range.ts'
import type { LeasedRanges } from './leased-ranges.ts'

/** Maximum of ranges leased for crawl requests at once. */
const MAX_LEASED_RANGES = 8
/** Maximum of requested names read per range. */
const MAX_NAMES_PER_RANGE = 1_000
/** Milliseconds after which a lookup request expires, and without an attempt after which it counts as new. */
const LOOKUP_REQUEST_EXPIRY_MS = 86_400_000
const LOOKUP_REQUEST_FORGET_MS = 3_600_000

export async function serveCrawlRequests(ranges: LeasedRanges): Promise<void> {
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
