/** Errands: names that somebody wants to be visited soon, also in ranges that are in hand already. */

import { WISHES, type WishKind } from '../store/wishes.ts'
import type { Name } from '../words/name.ts'
import { admit, leaveOut, type Read } from './admission.ts'
import type { Held } from './range.ts'
import type { Span } from './span.ts'

/** Ranges that are leased for wishes at once. */
const RANGES = 8
/** Wanted names of a range that are looked at. */
const NAMES = 1_000
/** Milliseconds that a name which a caller asked for is wanted; and after which it counts as asked for anew. */
const ASKED = 86_400_000
const FORGOTTEN = 3_600_000

export async function runErrands(span: Span): Promise<void> {
  const last = new Map<WishKind, number>()
  while (!span.isEnding) {
    for (const kind of WISHES) last.set(kind, await runErrandsOf(span, kind, last.get(kind) ?? -1))
    await span.errand.wait(span.crawl.times.look)
  }
}

/** Ranges are leased in turn, those after `last` first; returns the last one of those that it was this time. */
async function runErrandsOf(span: Span, kind: WishKind, last: number): Promise<number> {
  const ranges = await span.crawl.store.wishes.ranges(kind)
  const [mine, free]: [Held[], number[]] = [[], []]
  for (const range of ranges) {
    const held = span.held.get(range)
    if (held === undefined) free.push(range)
    else mine.push(held)
  }
  const next = span.room.free(kind) > 0 ? nextAfter(last, free) : []
  const leased = next.length > 0 ? await span.lease(RANGES, next) : []
  for (const range of [...mine, ...leased]) {
    if (span.isEnding) return last
    if (span.room.free(kind) > 0) await fetchFrom(span, kind, range)
  }
  for (const range of leased) range.isBusy = false
  if (leased.length > 0) await span.release()
  return next.at(-1) ?? last
}

/** Round and round, so that a range of which no name can be visited now keeps no other one waiting. */
function nextAfter(last: number, ranges: readonly number[]): number[] {
  const first = Math.max(
    0,
    ranges.findIndex((range) => range > last),
  )
  return [...ranges.slice(first), ...ranges.slice(0, first)].slice(0, RANGES)
}

async function fetchFrom(span: Span, kind: WishKind, range: Held): Promise<void> {
  const { store, clock } = span.crawl
  const wanted = await store.wishes.wanted(kind, range.lease.range, NAMES)
  const now = clock.ticks()
  const inVain = kind === 'asked' ? wanted.filter((name) => isInVain(span, name, now)) : []
  if (inVain.length > 0) await store.wishes.fulfil(kind, inVain)
  for (const name of inVain) span.memory.asked.delete(name)
  const missing = wanted.filter(
    (name) => !inVain.includes(name) && !promote(span, name, kind) && !isResting(span, name, now),
  )
  if (missing.length === 0) return
  const at = await store.now()
  const visits = await store.frontier.visits(missing)
  const wished = await leaveOut(
    span,
    visits.filter(({ forgotten }) => !forgotten),
    at,
  )
  const refused = new Set<Name>(missing)
  for (const { name } of wished) refused.delete(name)
  if (refused.size > 0) await store.wishes.fulfil(kind, [...refused])
  await admit(
    span,
    wished.map((visit): Read => ({ visit, range, wish: kind, read: at })),
  )
}

/** True for a name that is in hand: its visit fulfils this wish too, and it waits no longer as what it was. */
function promote(span: Span, name: Name, kind: WishKind): boolean {
  const candidate = span.names.get(name)
  if (candidate === undefined) return span.memory.flight.has(name)
  candidate.wishes.add(kind)
  if (candidate.kind === 'due' || candidate.kind === 'fresh') span.room.promote(candidate, kind)
  return true
}

/** A name that a caller asked for and that has no turn for a day is wanted no more: whoever asked may ask again. */
function isInVain({ memory }: Span, name: Name, now: number): boolean {
  const before = memory.asked.get(name)
  const since = before !== undefined && now - before.latest < FORGOTTEN ? before.since : now
  memory.asked.use(name, { since, latest: now })
  return now - since >= ASKED
}

function isResting({ memory }: Span, name: Name, now: number): boolean {
  const until = memory.resting.get(name)
  if (until === undefined) return false
  if (until > now) return true
  memory.resting.delete(name)
  return false
}
