/** Begins visits, as many as the rate and the parallel ones allow, and takes what they saw. */

import { prepare } from '../apply/prepare.ts'
import type { Visit } from '../crawl/visit.ts'
import type { Observation } from '../observe/observation.ts'
import { observe } from '../observe/observe.ts'
import type { End } from './figures.ts'
import type { Candidate } from './range.ts'
import type { Seen, Span } from './span.ts'

/** Visits that wait to be trusted and saved, at most, before none is begun any more. */
const UNSAVED = 2_000
/** Of so many visits one is made twice at once. */
const ONE_IN = 1_000
/** Milliseconds that a lease must still stand for a visit to begin. */
const MARGIN = 20_000
/** Milliseconds until it is looked again, where nothing else comes first. */
const LOOK = 60_000

export async function visitOn(span: Span): Promise<void> {
  while (!span.isEnding) {
    const wait = beginSome(span)
    await span.turn.wait(wait)
  }
}

/** Milliseconds until another one may begin. */
function beginSome(span: Span): number {
  const { crawl, memory, room } = span
  while (!span.isEnding) {
    if (memory.flight.size >= crawl.parallel || span.seen.length >= UNSAVED) return LOOK
    const now = crawl.clock.ticks()
    const wait = memory.rate.wait(now)
    if (wait > 0) return wait
    const candidate = room.take(now)
    if (candidate === null) return Math.min(LOOK, room.nextTurn() - now)
    if (mayBegin(span, candidate, now)) begin(span, candidate, now)
    else span.leave(candidate)
  }
  return 0
}

/** Not while an earlier span's visit of it is not over, nor so late that another crawler may begin one too. */
function mayBegin({ crawl, memory }: Span, { name, range }: Candidate, now: number): boolean {
  return !memory.flight.has(name) && !crawl.optOut.hasName(name) && range.until - now >= MARGIN
}

function begin(span: Span, candidate: Candidate, now: number): void {
  const { crawl, memory, tide } = span
  memory.rate.take(now)
  memory.flight.add(candidate.name)
  span.flying++
  tide.begun++
  void visitOne(span, candidate).then((visited) => {
    memory.flight.delete(candidate.name)
    span.flying--
    span.turn.ring()
    const end = visited === null ? 'failed' : endOf(visited.observation)
    crawl.figures.end(candidate.kind, end, crawl.clock.ticks())
    if (span.trouble === null && span.has(candidate)) take(span, candidate, visited, end)
    if (span.flying === 0 || span.seen.length >= SLICE) span.over.ring()
  })
}

/** Visits that are trusted and saved together, at most. */
export const SLICE = 500

type Visited = { visit: Visit; observation: Observation }

/** Null for a fault of the program. The turns that were waited for in the room are those of one visit. */
async function visitOne({ crawl }: Span, { name, places }: Candidate): Promise<Visited | null> {
  try {
    const isTwice = crawl.random() < 1 / ONE_IN
    const visits = [crawl.visit(name, places.addresses ?? []), ...(isTwice ? [crawl.visit(name)] : [])]
    const [visited, other] = await Promise.all(visits.map(observed))
    if (other !== undefined) compare(crawl.figures.twice, visited!.observation, other.observation)
    return visited!
  } catch (error) {
    crawl.onFault(error)
    return null
  }
}

async function observed(visiting: Promise<Visit>): Promise<Visited> {
  const visit = await visiting
  return { visit, observation: observe(visit) }
}

function compare(twice: { made: number; differed: number }, one: Observation, other: Observation): void {
  if (one.dns === null || other.dns === null) return
  const [a, b] = [prepare(one), prepare(other)]
  const areBothSeen = one.web !== null && other.web !== null
  twice.made++
  if (a.dnsPrint !== b.dnsPrint || (areBothSeen && a.webPrint !== b.webPrint)) twice.differed++
}

/** How a visit ended that saw this. */
export function endOf({ dns, web }: Observation): End {
  if (dns === null) return 'unseen'
  if (dns.status !== 'ok') return dns.status
  return web !== null && !web.has_website ? 'none' : 'ok'
}

/**
 * Keeps what was seen for its slice. A web that had no turn in time is looked at soon again; of a name that was never visited
 * what DNS said is kept all the same, so that it is known next time where its turn is to be waited for.
 */
function take(span: Span, candidate: Candidate, visited: Visited | null, end: End): void {
  const { clock, figures } = span.crawl
  const held = visited?.visit.held ?? null
  const again = visited === null || end === 'unseen' || held !== null
  const isKept =
    visited !== null && end !== 'unseen' && (held === null || candidate.kind === 'fresh' || candidate.kind === 'asked')
  if (span.seen.length === 0) span.oldest = clock.ticks()
  const at = visited?.visit.at ?? candidate.read
  const seen: Seen = { candidate, at, observation: isKept ? visited.observation : null, end, again, held }
  span.seen.push(seen)
  if (candidate.kind === 'due' && candidate.visit.due > 0) figures.lag(Math.max(0, at - candidate.visit.due))
}
