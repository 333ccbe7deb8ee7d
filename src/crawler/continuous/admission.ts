/** Admission to the ready queue: names that were read from the store, with the targets of their probes. */

import { postponedChange } from '../../apply/apply.ts'
import type { CrawlState } from '../../apply/crawl-state.ts'
import type { CrawlRequestKind } from '../../store/port/crawl-requests.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import type { Instant } from '../../values/time.ts'
import { priorStateOf } from '../anomaly/prior-state.ts'
import { targetsOf, withoutOwnAddresses } from '../probe-targets.ts'
import type { ProbeKind } from '../queue/kind-selector.ts'
import { lastProbedAt } from '../status/sweep-count.ts'
import type { HeldRange, LeasedCandidate } from './held-range.ts'
import type { LeasedRanges } from './leased-ranges.ts'

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
  ranges: LeasedRanges,
  candidates: readonly SlotCandidate[],
): Promise<Map<ProbeKind, number>> {
  const { session } = ranges
  const free = new Map<ProbeKind, number>()
  const admitted: LeasedCandidate[] = []
  for (const { state, range, requestKind, readAt } of candidates) {
    if (session.candidates.has(state.name)) continue
    const kind = requestKind ?? (lastProbedAt(state) > 0 ? 'due' : 'new')
    const freeSlots = free.get(kind) ?? session.queue.capacityLeft(kind)
    free.set(kind, freeSlots - 1)
    const requests = new Set(requestKind === null ? [] : [requestKind])
    if (freeSlots > 0)
      admitted.push({
        id: state.name,
        name: state.name,
        state,
        kind,
        prior: 'new',
        heldRange: range,
        readAt,
        targets: {},
        requests,
      })
    else if (range.sweep !== null) range.sweep.hasReturned = range.sweep.hasOverflowed = true
  }
  await loadTargets(ranges, admitted)
  for (const candidate of admitted) if (isStillHeld(ranges, candidate)) ranges.admit(candidate)
  if (admitted.length > 0) session.mayProbe.notify()
  return countByKind(admitted)
}

function countByKind(admitted: readonly LeasedCandidate[]): Map<ProbeKind, number> {
  const counts = new Map<ProbeKind, number>()
  for (const { kind } of admitted) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** False if the range was lost or the name was admitted another way, while its targets were read. */
function isStillHeld(ranges: LeasedRanges, { name, heldRange }: LeasedCandidate): boolean {
  return ranges.isHeld(heldRange) && !ranges.session.candidates.has(name)
}

/** Postpones opted-out names for the longest interval. Returns the others. */
export async function withoutOptedOut(
  ranges: LeasedRanges,
  states: readonly CrawlState[],
  at: Instant,
): Promise<CrawlState[]> {
  const { optOut, store, intervals } = ranges.crawl
  const [optedOut, others] = [[] as CrawlState[], [] as CrawlState[]]
  for (const state of states) (optOut.hasName(state.name) ? optedOut : others).push(state)
  const changes = optedOut
    .filter(({ version }) => version > 0)
    .map((state) => postponedChange(state, at + intervals.max))
  if (changes.length > 0) await store.observations.save(changes, ranges.leases())
  return others
}

/** Loads the targets and the prior state of names that were probed before, and the name counts of their addresses. */
async function loadTargets(ranges: LeasedRanges, candidates: readonly LeasedCandidate[]): Promise<void> {
  const { store, isOwn, intervals } = ranges.crawl
  const probedBefore = candidates.filter(({ state }) => lastProbedAt(state) > 0)
  for (let from = 0; from < probedBefore.length; from += FACTS_BATCH_NAMES) {
    const batch = probedBefore.slice(from, from + FACTS_BATCH_NAMES)
    const currents = await store.observations.currentFacts(batch.map(({ name }) => name))
    for (const [index, candidate] of batch.entries()) {
      candidate.targets = withoutOwnAddresses(targetsOf(currents[index]!), isOwn)
      candidate.prior = priorStateOf(candidate.state, currents[index]!, intervals)
    }
    await updateNameCounts(
      ranges,
      batch.flatMap(({ targets }) => targets.addresses ?? []),
    )
  }
}

/** Updates the politeness limiter with the number of names at each address. */
export async function updateNameCounts(ranges: LeasedRanges, addresses: readonly IpAddress[]): Promise<void> {
  const { politeness, store } = ranges.crawl
  const addressList = [...new Set(addresses)]
  if (addressList.length === 0) return
  const nameCounts = await store.schedule.nameCounts(addressList)
  for (const [index, address] of addressList.entries()) politeness.setNameCount({ address }, nameCounts[index]!)
}
