/**
 * Settles a batch that was written: fulfilled crawl requests, the next time of names that could not be probed, and the
 * counts of each sweep.
 */

import { postponedChange } from '../../apply/apply.ts'
import { CRAWL_REQUEST_KINDS } from '../../store/port/crawl-requests.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import { observedNameServers } from '../probe-targets.ts'
import type { FinishedProbe, WriteOutcome } from '../request-source.ts'
import { CrawlPauseError } from '../session.ts'
import { countAfterProbe } from '../status/sweep-count.ts'
import { updateNameCounts } from './admission.ts'
import type { LeasedCandidate } from './held-range.ts'
import { type LeasedRanges, REQUEST_BACKOFF_MS } from './leased-ranges.ts'

type LeasedProbe = FinishedProbe<LeasedCandidate>

/** Seconds until a name that could not be probed is probed again, at first and at most. */
const MIN_RETRY_SECONDS = 300
const MAX_RETRY_SECONDS = 86_400
/** After this many failed attempts, a lookup request is dropped. */
const MAX_LOOKUP_ATTEMPTS = 3

const CLOCK_AHEAD_MESSAGE = "the clock of this machine is more than 5 minutes ahead of the store's: correct it"

/**
 * Drops the results of ranges that were lost in the meantime, and returns the others. Throws CrawlPauseError if the store rejected
 * the times of this machine.
 */
export async function settleBatch(
  ranges: LeasedRanges,
  batch: readonly LeasedProbe[],
  outcomes: ReadonlyMap<LeasedProbe, WriteOutcome>,
): Promise<LeasedProbe[]> {
  if ([...outcomes.values()].includes('ahead')) throw new CrawlPauseError('clock', CLOCK_AHEAD_MESSAGE)
  for (const [{ candidate }, outcome] of outcomes) if (outcome === 'lost') ranges.dropRange(candidate.heldRange)
  const saved = batch.filter(({ candidate }) => ranges.session.has(candidate))
  const [retried, done] = [saved.filter(isRetried), saved.filter((probe) => !isRetried(probe))]
  await postponeRetried(ranges, retried)
  await fulfilRequests(ranges, done)
  await updateNameCounts(ranges, [...new Set(saved.flatMap(observedAddresses))])
  for (const probe of saved) {
    countForNameServers(ranges, probe)
    finishCandidate(ranges, probe)
  }
  return saved
}

/** Whether the name is probed again soon. */
function isRetried({ outcome, deferredAt }: LeasedProbe): boolean {
  return outcome === 'failed' || outcome === 'notProbed' || deferredAt !== null
}

/**
 * Postpones names that could not be probed, and backs off their crawl requests in memory. After a first deferral, the
 * backoff is short, because the wait is now known. If another writer was faster, the state stays as that writer saved
 * it.
 */
async function postponeRetried(ranges: LeasedRanges, probes: readonly LeasedProbe[]): Promise<void> {
  if (probes.length === 0) return
  const { store, politeness } = ranges.crawl
  const states = await store.observations.crawlStates(probes.map(({ candidate }) => candidate.name))
  const now = await store.now()
  const changes = states.flatMap((state, index) => {
    const probe = probes[index]!
    // long if the address requested a backoff
    const wait = probe.deferredAt === null ? 0 : politeness.wait({ addresses: [probe.deferredAt] })
    const isFirstDeferral = probe.deferredAt !== null && ranges.memory.failuresInRow.get(state.name) === undefined
    const pause = Math.max(retryDelaySeconds(ranges, probe), Math.ceil(wait / 1000))
    if (probe.candidate.requests.size > 0)
      ranges.backOff(state.name, isFirstDeferral ? Math.max(REQUEST_BACKOFF_MS, wait) : 1000 * pause)
    const due = probe.observation === null ? Math.max(now + pause, state.due) : now + pause
    return state.version > 0 && !state.forgotten ? [postponedChange(state, due)] : []
  })
  await store.observations.save(changes, ranges.leases())
  await dropLookupRequests(ranges, probes)
}

/** Drops lookup requests after MAX_LOOKUP_ATTEMPTS failed attempts. Another lookup may request the name again. */
async function dropLookupRequests({ crawl, memory }: LeasedRanges, probes: readonly LeasedProbe[]): Promise<void> {
  const lookups = probes
    .filter(({ candidate }) => candidate.requests.has('lookup'))
    .map(({ candidate }) => candidate.name)
  const dropped = lookups.filter((name) => (memory.failuresInRow.get(name) ?? 0) >= MAX_LOOKUP_ATTEMPTS)
  for (const name of dropped) memory.lookupRequests.delete(name)
  if (dropped.length > 0) await crawl.store.crawlRequests.complete('lookup', dropped)
}

/** Seconds until the next attempt, doubled after each failure in a row. */
function retryDelaySeconds({ memory: { failuresInRow } }: LeasedRanges, { candidate: { name } }: LeasedProbe): number {
  const failures = failuresInRow.get(name) ?? 0
  failuresInRow.set(name, failures + 1)
  return Math.min(MIN_RETRY_SECONDS * 2 ** failures, MAX_RETRY_SECONDS)
}

async function fulfilRequests({ crawl }: LeasedRanges, done: readonly LeasedProbe[]): Promise<void> {
  for (const kind of CRAWL_REQUEST_KINDS) {
    const names = done.filter(({ candidate }) => candidate.requests.has(kind)).map(({ candidate }) => candidate.name)
    if (names.length > 0) await crawl.store.crawlRequests.complete(kind, names)
  }
}

function observedAddresses({ observation }: LeasedProbe): IpAddress[] {
  const { A = [], AAAA = [] } = observation?.dns?.records ?? {}
  return [...A.map(({ ipv4_address }) => ipv4_address), ...AAAA.map(({ ipv6_address }) => ipv6_address)]
}

/** Counts the name for its name servers, because their rate limit grows with their names. */
function countForNameServers({ crawl, memory }: LeasedRanges, { observation }: LeasedProbe): void {
  const nameServers = observation === null ? '' : observedNameServers(observation)
  if (nameServers !== '')
    crawl.politeness.setNameCount({ nameServers }, memory.nameServerCounts.add(nameServers, crawl.clock.monotonicMs()))
}

/** Completes a candidate and updates the count of its sweep. */
function finishCandidate(ranges: LeasedRanges, probe: LeasedProbe): void {
  const { candidate } = probe
  const { name, heldRange, state, readAt } = candidate
  if (!isRetried(probe)) {
    ranges.memory.failuresInRow.delete(name)
    ranges.memory.lookupRequests.delete(name)
  }
  const wasDue = state.due <= readAt && heldRange.sweep !== null
  if (wasDue && !isRetried(probe))
    heldRange.sweep!.count = countAfterProbe(heldRange.sweep!.count, state, readAt, readAt + ranges.crawl.intervals.min)
  ranges.forget(candidate)
}
