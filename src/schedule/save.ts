/** Saves a slice: observations, wishes that are fulfilled, outcomes, and the times of names that could not be looked at. */

import { postponed } from '../apply/apply.ts'
import { ingest } from '../store/ingest.ts'
import { WISHES } from '../store/wishes.ts'
import type { Address } from '../words/address.ts'
import { learnCrowds, serversSeen } from './admission.ts'
import { afterVisit } from './count.ts'
import { outcomesOf } from './outcomes.ts'
import { REST, type Seen, type Span, Trouble } from './span.ts'

/** Seconds after which a name is visited again that could not be looked at, at first and at most. */
const SOON = 300
const LATEST = 86_400
/** A name that a caller asked for and that could not be looked at so often is wanted no more. */
const MOST_IN_VAIN = 3

const AHEAD = 'the clock of this machine is more than 5 minutes ahead of that of the store: set it right'

/** What belongs to a range that was lost meanwhile is left out. Throws Trouble where the store refuses this machine's times. */
export async function save(span: Span, cut: readonly Seen[]): Promise<void> {
  const mine = cut.filter(({ candidate }) => span.has(candidate))
  for (const { candidate } of await write(span, mine)) span.lose(candidate.range)
  const saved = mine.filter(({ candidate }) => span.has(candidate))
  const [again, done] = [saved.filter((seen) => seen.again), saved.filter((seen) => !seen.again)]
  await postpone(span, again)
  await fulfil(span, done)
  await span.crawl.store.schedule.add(outcomesOf(saved))
  await learnCrowds(span, [...new Set(saved.flatMap(addressesSeen))])
  for (const seen of saved) {
    meet(span, seen)
    conclude(span, seen)
  }
}

/** Writes the observations; returns those whose range is another crawler's now. */
async function write(span: Span, seen: readonly Seen[]): Promise<Seen[]> {
  const { store, rhythm } = span.crawl
  const observed = seen.filter(({ observation }) => observation !== null)
  const batch = observed.map(({ observation }) => observation!)
  const outcomes = await ingest(store, batch, { rhythm, leases: span.leases() })
  if (outcomes.includes('ahead')) throw new Trouble('clock', AHEAD)
  return observed.filter((_, place) => outcomes[place] === 'lost')
}

/** Wanted names rest in memory besides: a first time for a turn that is known of by now, and that will be waited for, only shortly. One that another writer was faster with is left as that made it. */
async function postpone(span: Span, again: readonly Seen[]): Promise<void> {
  if (again.length === 0) return
  const { store } = span.crawl
  const visits = await store.frontier.visits(again.map(({ candidate }) => candidate.name))
  const now = await store.now()
  const changes = visits.flatMap((visit, place) => {
    const seen = again[place]!
    const wait = seen.held === null ? 0 : span.crawl.pace.wait({ addresses: [seen.held] }) // long where it asked for that
    const isFirstHeld = seen.held !== null && span.memory.unseen.get(visit.name) === undefined
    const pause = Math.max(pauseAfter(span, seen), Math.ceil(wait / 1000))
    if (seen.candidate.wishes.size > 0) span.rest(visit.name, isFirstHeld ? Math.max(REST, wait) : 1000 * pause)
    const due = seen.observation === null ? Math.max(now + pause, visit.due) : now + pause
    return visit.version > 0 && !visit.forgotten ? [postponed(visit, due)] : []
  })
  await store.frontier.save(changes, span.leases())
  await giveUpAsked(span, again)
}

/** Whoever asked may ask again. */
async function giveUpAsked({ crawl, memory }: Span, again: readonly Seen[]): Promise<void> {
  const asked = again.filter(({ candidate }) => candidate.wishes.has('asked')).map(({ candidate }) => candidate.name)
  const inVain = asked.filter((name) => (memory.unseen.get(name) ?? 0) >= MOST_IN_VAIN)
  for (const name of inVain) memory.asked.delete(name)
  if (inVain.length > 0) await crawl.store.wishes.fulfil('asked', inVain)
}

/** Seconds: each further time in a row that a name could not be looked at, twice as long. */
function pauseAfter({ memory: { unseen } }: Span, { candidate: { name } }: Seen): number {
  const before = unseen.get(name) ?? 0
  unseen.use(name, before + 1)
  return Math.min(SOON * 2 ** before, LATEST)
}

async function fulfil(span: Span, done: readonly Seen[]): Promise<void> {
  for (const kind of WISHES) {
    const names = done.filter(({ candidate }) => candidate.wishes.has(kind)).map(({ candidate }) => candidate.name)
    if (names.length > 0) await span.crawl.store.wishes.fulfil(kind, names)
  }
}

function addressesSeen({ observation }: Seen): Address[] {
  const { A = [], AAAA = [] } = observation?.dns?.records ?? {}
  return [...A.map(({ ipv4_address }) => ipv4_address), ...AAAA.map(({ ipv6_address }) => ipv6_address)]
}

/** Counts the name for its name servers, whose pace grows with their names. */
function meet({ crawl, memory }: Span, { observation }: Seen): void {
  const servers = observation === null ? '' : serversSeen(observation)
  if (servers !== '') crawl.pace.learn({ servers }, memory.met.add(servers, crawl.clock.ticks()))
}

/** It is due no more, and in hand no more. */
function conclude(span: Span, { candidate, again }: Seen): void {
  const { name, range, visit, read } = candidate
  if (!again) {
    span.memory.unseen.delete(name)
    span.memory.asked.delete(name)
  }
  const wasDue = candidate.visit.due <= read && range.sweep !== null
  if (wasDue && !again)
    range.sweep!.count = afterVisit(range.sweep!.count, visit, read, read + span.crawl.rhythm.soonest)
  span.settle(candidate)
}
