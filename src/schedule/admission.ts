/** Who comes into the waiting room: names that were read from the store, with the places that their visits go to. */

import { postponed } from '../apply/apply.ts'
import type { Current, Visit } from '../apply/known.ts'
import type { Places } from '../crawl/pace.ts'
import type { Observation } from '../observe/observation.ts'
import type { WishKind } from '../store/wishes.ts'
import type { Address } from '../words/address.ts'
import type { Instant } from '../words/time.ts'
import { lastSeen } from './count.ts'
import type { Crawl } from './crawl.ts'
import { pastOf } from './past.ts'
import type { Candidate, Held } from './range.ts'
import type { Span } from './span.ts'
import type { Kind } from './turns.ts'

/** A name that was read. `wish`: why it is wanted, null where it is due. */
export type Read = { visit: Visit; range: Held; wish: WishKind | null; read: Instant }

/** The names of whom the facts are read at once. */
const BATCH = 500

/**
 * Lets in as many of each kind as there is room for; the others go back to their slots. Names in hand already are passed
 * over. Returns how many of each kind came in.
 */
export async function admit(span: Span, all: readonly Read[]): Promise<Map<Kind, number>> {
  const { room } = span
  const free = new Map<Kind, number>()
  const admitted: Candidate[] = []
  for (const { visit, range, wish, read: at } of all) {
    if (span.names.has(visit.name)) continue
    const kind = wish ?? (lastSeen(visit) > 0 ? 'due' : 'fresh')
    const left = free.get(kind) ?? room.free(kind)
    free.set(kind, left - 1)
    const wishes = new Set(wish === null ? [] : [wish])
    if (left > 0) admitted.push({ name: visit.name, visit, kind, past: 'new', range, read: at, places: {}, wishes })
    else if (range.sweep !== null) range.sweep.isLeft = true
  }
  await findPlaces(span, admitted)
  for (const candidate of admitted) if (stands(span, candidate)) span.admit(candidate)
  if (admitted.length > 0) span.turn.ring()
  return counted(admitted)
}

function counted(admitted: readonly Candidate[]): Map<Kind, number> {
  const counts = new Map<Kind, number>()
  for (const { kind } of admitted) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** False where its range was lost, or the name came in by another way, while its places were read. */
function stands(span: Span, { name, range }: Candidate): boolean {
  return span.held.get(range.lease.range) === range && !span.names.has(name)
}

/** Those whose owners want no visits are not due for as long as may be; returns the others. */
export async function leaveOut(span: Span, visits: readonly Visit[], at: Instant): Promise<Visit[]> {
  const { optOut, store, rhythm } = span.crawl
  const [out, others] = [[] as Visit[], [] as Visit[]]
  for (const visit of visits) (optOut.hasName(visit.name) ? out : others).push(visit)
  const changes = out.filter(({ version }) => version > 0).map((visit) => postponed(visit, at + rhythm.latest))
  if (changes.length > 0) await store.frontier.save(changes, span.leases())
  return others
}

/** Reads where names that were visited before are, what they had, and how crowded it is there. */
async function findPlaces(span: Span, candidates: readonly Candidate[]): Promise<void> {
  const { store, isOwn, rhythm } = span.crawl
  const known = candidates.filter(({ visit }) => lastSeen(visit) > 0)
  for (let from = 0; from < known.length; from += BATCH) {
    const batch = known.slice(from, from + BATCH)
    const currents = await store.frontier.currents(batch.map(({ name }) => name))
    for (const [index, candidate] of batch.entries()) {
      candidate.places = withoutOwn(placesOf(currents[index]!), isOwn)
      candidate.past = pastOf(candidate.visit, currents[index]!, rhythm)
    }
    await learnCrowds(
      span,
      batch.flatMap(({ places }) => places.addresses ?? []),
    )
  }
}

/** The addresses that it had, and its name servers, as they were last seen. */
export function placesOf({ addresses, states }: Pick<Current, 'addresses' | 'states'>): Places {
  const servers = states.NS === undefined ? '' : (JSON.parse(states.NS.records) as string[]).join(' ')
  return servers === '' ? { addresses } : { addresses, servers }
}

/** The name servers that an observation has, as `placesOf` says them; '' for none. */
export function serversSeen({ dns }: Observation): string {
  return (dns?.records.NS ?? []).map(({ nameserver }) => nameserver).join(' ')
}

/** Nobody waits at the operator's own addresses, nor at the name servers of what lies on those alone. */
export function withoutOwn({ addresses = [], servers }: Places, isOwn: Crawl['isOwn']): Places {
  const others = addresses.filter((address) => !isOwn(address))
  const isFree = servers === undefined || (addresses.length > 0 && others.length === 0)
  return isFree ? { addresses: others } : { addresses: others, servers }
}

/** Tells the pace how many names are at addresses, each once. */
export async function learnCrowds(span: Span, addresses: readonly Address[]): Promise<void> {
  const { pace, store } = span.crawl
  const asked = [...new Set(addresses)]
  if (asked.length === 0) return
  const crowds = await store.schedule.crowds(asked)
  for (const [index, address] of asked.entries()) pace.learn({ address }, crowds[index]!)
}
