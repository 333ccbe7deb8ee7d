/** Admission to the ready queue: names that were read from the store, with the targets of their probes. */

import { postponedChange } from '../../apply/apply.ts'
import type { CrawlState, CurrentFacts } from '../../apply/crawl-state.ts'
import type { Observation } from '../../observe/observation.ts'
import type { RateLimitTargets } from '../../probe/policy/politeness-limiter.ts'
import type { CrawlRequestKind } from '../../store/port/crawl-requests.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import type { Instant } from '../../values/time.ts'
import { priorStateOf } from '../anomaly/prior-state.ts'
import type { CrawlerDependencies } from '../dependencies.ts'
import type { CrawlSession } from '../session.ts'
import { lastProbedAt } from '../status/sweep-count.ts'
import type { Candidate, HeldRange } from './held-range.ts'
import type { ProbeKind } from './kind-selector.ts'

/** A name that was read. `requestKind`: the kind of its crawl request, null if it is due. */
export type SlotCandidate = {
  state: CrawlState
  range: HeldRange
  requestKind: CrawlRequestKind | null
  readAt: Instant
}

/** The number of names whose facts are read at once. */
const FACTS_BATCH_NAMES = 500

/**
 * Admits as many names of each kind as the queue has capacity for. The others return to their slots. Skips names that
 * are already candidates. Returns how many of each kind were admitted.
 */
export async function admitCandidates(
  session: CrawlSession,
  candidates: readonly SlotCandidate[],
): Promise<Map<ProbeKind, number>> {
  const { queue } = session
  const free = new Map<ProbeKind, number>()
  const admitted: Candidate[] = []
  for (const { state, range, requestKind, readAt: at } of candidates) {
    if (session.candidates.has(state.name)) continue
    const kind = requestKind ?? (lastProbedAt(state) > 0 ? 'due' : 'new')
    const freeSlots = free.get(kind) ?? queue.capacityLeft(kind)
    free.set(kind, freeSlots - 1)
    const requests = new Set(requestKind === null ? [] : [requestKind])
    if (freeSlots > 0)
      admitted.push({
        name: state.name,
        state,
        kind,
        prior: 'new',
        heldRange: range,
        readAt: at,
        targets: {},
        requests,
      })
    else if (range.sweep !== null) range.sweep.hasReturned = true
  }
  await loadTargets(session, admitted)
  for (const candidate of admitted) if (isStillHeld(session, candidate)) session.admit(candidate)
  if (admitted.length > 0) session.mayProbe.notify()
  return countByKind(admitted)
}

function countByKind(admitted: readonly Candidate[]): Map<ProbeKind, number> {
  const counts = new Map<ProbeKind, number>()
  for (const { kind } of admitted) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** False if the range was lost or the name was admitted another way, while its targets were read. */
function isStillHeld(session: CrawlSession, { name, heldRange: range }: Candidate): boolean {
  return session.heldRanges.get(range.lease.range) === range && !session.candidates.has(name)
}

/** Postpones opted-out names for the longest interval. Returns the others. */
export async function withoutOptedOut(
  session: CrawlSession,
  states: readonly CrawlState[],
  at: Instant,
): Promise<CrawlState[]> {
  const { optOut, store, intervals } = session.dependencies
  const [optedOut, others] = [[] as CrawlState[], [] as CrawlState[]]
  for (const state of states) (optOut.hasName(state.name) ? optedOut : others).push(state)
  const changes = optedOut
    .filter(({ version }) => version > 0)
    .map((state) => postponedChange(state, at + intervals.max))
  if (changes.length > 0) await store.observations.save(changes, session.leases())
  return others
}

/** Loads the targets and the prior state of names that were probed before, and the name counts of their addresses. */
async function loadTargets(session: CrawlSession, candidates: readonly Candidate[]): Promise<void> {
  const { store, isOwn, intervals } = session.dependencies
  const probedBefore = candidates.filter(({ state }) => lastProbedAt(state) > 0)
  for (let from = 0; from < probedBefore.length; from += FACTS_BATCH_NAMES) {
    const batch = probedBefore.slice(from, from + FACTS_BATCH_NAMES)
    const currents = await store.observations.currentFacts(batch.map(({ name }) => name))
    for (const [index, candidate] of batch.entries()) {
      candidate.targets = withoutOwnAddresses(targetsOf(currents[index]!), isOwn)
      candidate.prior = priorStateOf(candidate.state, currents[index]!, intervals)
    }
    await updateNameCounts(
      session,
      batch.flatMap(({ targets }) => targets.addresses ?? []),
    )
  }
}

/** The addresses and name servers of a name as of its last observation. */
export function targetsOf({ addresses, states }: Pick<CurrentFacts, 'addresses' | 'states'>): RateLimitTargets {
  const nameServers = states.NS === undefined ? '' : (JSON.parse(states.NS.records) as string[]).join(' ')
  return nameServers === '' ? { addresses } : { addresses, nameServers }
}

/** The name servers in an observation, in the form of `targetsOf`. Returns '' if there are none. */
export function observedNameServers({ dns }: Observation): string {
  return (dns?.records.NS ?? []).map(({ nameserver }) => nameserver).join(' ')
}

/**
 * Removes the operator's own addresses, and the name servers of a name that has only such addresses. They have no rate
 * limit.
 */
export function withoutOwnAddresses(
  { addresses = [], nameServers }: RateLimitTargets,
  isOwn: CrawlerDependencies['isOwn'],
): RateLimitTargets {
  const others = addresses.filter((address) => !isOwn(address))
  const isFree = nameServers === undefined || (addresses.length > 0 && others.length === 0)
  return isFree ? { addresses: others } : { addresses: others, nameServers }
}

/** Updates the politeness limiter with the number of names at each address. */
export async function updateNameCounts(session: CrawlSession, addresses: readonly IpAddress[]): Promise<void> {
  const { politeness, store } = session.dependencies
  const addressList = [...new Set(addresses)]
  if (addressList.length === 0) return
  const nameCounts = await store.schedule.nameCounts(addressList)
  for (const [index, address] of addressList.entries()) politeness.setNameCount({ address }, nameCounts[index]!)
}
