/** Errands: names that somebody wants to be visited soon, also in ranges that are in hand already. */

import { CRAWL_REQUEST_KINDS, type CrawlRequestKind } from '../../store/port/crawl-requests.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { CrawlSession } from '../session.ts'
import { admitCandidates, type SlotCandidate, withoutOptedOut } from './admission.ts'
import type { HeldRange } from './held-range.ts'

/** Ranges that are leased for wishes at once. */
const MAX_LEASED_RANGES = 8
/** Wanted names of a range that are looked at. */
const MAX_NAMES_PER_RANGE = 1_000
/** Milliseconds that a name which a caller asked for is wanted; and after which it counts as asked for anew. */
const LOOKUP_REQUEST_EXPIRY_MS = 86_400_000
const LOOKUP_REQUEST_FORGET_MS = 3_600_000

export async function serveCrawlRequests(session: CrawlSession): Promise<void> {
  const last = new Map<CrawlRequestKind, number>()
  while (!session.isEnding) {
    for (const kind of CRAWL_REQUEST_KINDS)
      last.set(kind, await serveRequestsOfKind(session, kind, last.get(kind) ?? -1))
    await session.requestsWanted.wait(session.dependencies.timings.pollMs)
  }
}

/** Ranges are leased in turn, those after `last` first; returns the last one of those that it was this time. */
async function serveRequestsOfKind(session: CrawlSession, kind: CrawlRequestKind, last: number): Promise<number> {
  const ranges = await session.dependencies.store.crawlRequests.ranges(kind)
  const [heldRanges, free]: [HeldRange[], number[]] = [[], []]
  for (const range of ranges) {
    const held = session.heldRanges.get(range)
    if (held === undefined) free.push(range)
    else heldRanges.push(held)
  }
  const next = session.queue.capacityLeft(kind) > 0 ? rotateAfter(last, free) : []
  const leased = next.length > 0 ? await session.lease(MAX_LEASED_RANGES, next) : []
  for (const range of [...heldRanges, ...leased]) {
    if (session.isEnding) return last
    if (session.queue.capacityLeft(kind) > 0) await admitRequested(session, kind, range)
  }
  for (const range of leased) range.isReading = false
  if (leased.length > 0) await session.release()
  return next.at(-1) ?? last
}

/** Round and round, so that a range of which no name can be visited now keeps no other one waiting. */
function rotateAfter(last: number, ranges: readonly number[]): number[] {
  const first = Math.max(
    0,
    ranges.findIndex((range) => range > last),
  )
  return [...ranges.slice(first), ...ranges.slice(0, first)].slice(0, MAX_LEASED_RANGES)
}

async function admitRequested(session: CrawlSession, kind: CrawlRequestKind, range: HeldRange): Promise<void> {
  const { store, clock } = session.dependencies
  const wanted = await store.crawlRequests.inRange(kind, range.lease.range, MAX_NAMES_PER_RANGE)
  const now = clock.monotonicMs()
  const expired = kind === 'lookup' ? wanted.filter((name) => isRequestExpired(session, name, now)) : []
  if (expired.length > 0) await store.crawlRequests.complete(kind, expired)
  for (const name of expired) session.memory.lookupRequests.delete(name)
  const missing = wanted.filter(
    (name) => !expired.includes(name) && !promoteCandidate(session, name, kind) && !isBackedOff(session, name, now),
  )
  if (missing.length === 0) return
  const at = await store.now()
  const states = await store.observations.crawlStates(missing)
  const requested = await withoutOptedOut(
    session,
    states.filter(({ forgotten }) => !forgotten),
    at,
  )
  const refused = new Set<DomainName>(missing)
  for (const { name } of requested) refused.delete(name)
  if (refused.size > 0) await store.crawlRequests.complete(kind, [...refused])
  await admitCandidates(
    session,
    requested.map((state): SlotCandidate => ({ state, range, requestKind: kind, readAt: at })),
  )
}

/** True for a name that is in hand: its visit fulfils this wish too, and it waits no longer as what it was. */
function promoteCandidate(session: CrawlSession, name: DomainName, kind: CrawlRequestKind): boolean {
  const candidate = session.candidates.get(name)
  if (candidate === undefined) return session.memory.inFlight.has(name)
  candidate.requests.add(kind)
  if (candidate.kind === 'due' || candidate.kind === 'new') session.queue.promote(candidate, kind)
  return true
}

/** A name that a caller asked for and that has no turn for a day is wanted no more: whoever asked may ask again. */
function isRequestExpired({ memory }: CrawlSession, name: DomainName, now: number): boolean {
  const previous = memory.lookupRequests.get(name)
  const since = previous !== undefined && now - previous.latest < LOOKUP_REQUEST_FORGET_MS ? previous.since : now
  memory.lookupRequests.set(name, { since, latest: now })
  return now - since >= LOOKUP_REQUEST_EXPIRY_MS
}

function isBackedOff({ memory }: CrawlSession, name: DomainName, now: number): boolean {
  const until = memory.backedOff.get(name)
  if (until === undefined) return false
  if (until > now) return true
  memory.backedOff.delete(name)
  return false
}
