/**
 * Saves a batch: observations, fulfilled crawl requests, outcomes, and the next time of names that could not be probed.
 */

import { postponedChange } from '../apply/apply.ts'
import { ingest } from '../store/ingest.ts'
import { CRAWL_REQUEST_KINDS } from '../store/port/crawl-requests.ts'
import type { IpAddress } from '../values/ip-address.ts'
import { countOutcomes } from './anomaly/outcome-counts.ts'
import { observedNameServers, updateNameCounts } from './queue/admission.ts'
import { CrawlPauseError, type CrawlSession, type FinishedProbe, REQUEST_BACKOFF_MS } from './session.ts'
import { countAfterProbe } from './status/sweep-count.ts'

/** Seconds until a name that could not be probed is probed again, at first and at most. */
const MIN_RETRY_SECONDS = 300
const MAX_RETRY_SECONDS = 86_400
/** After this many failed attempts, a lookup request is dropped. */
const MAX_LOOKUP_ATTEMPTS = 3

const CLOCK_AHEAD_MESSAGE = "the clock of this machine is more than 5 minutes ahead of the store's: correct it"

/**
 * Drops results of ranges lost in the meantime. Throws CrawlPauseError if the store rejects the times of this machine.
 */
export async function saveBatch(session: CrawlSession, batch: readonly FinishedProbe[]): Promise<void> {
  const stillHeld = batch.filter(({ candidate }) => session.has(candidate))
  for (const { candidate } of await writeObservations(session, stillHeld)) session.dropRange(candidate.heldRange)
  const saved = stillHeld.filter(({ candidate }) => session.has(candidate))
  const [retried, done] = [saved.filter((probe) => probe.isRetried), saved.filter((probe) => !probe.isRetried)]
  await postponeRetried(session, retried)
  await fulfilRequests(session, done)
  await session.dependencies.store.schedule.addOutcomes(countOutcomes(saved))
  await updateNameCounts(session, [...new Set(saved.flatMap(observedAddresses))])
  for (const probe of saved) {
    countForNameServers(session, probe)
    finishCandidate(session, probe)
  }
}

/** Writes the observations. Returns those whose range another crawler now holds. */
async function writeObservations(session: CrawlSession, probes: readonly FinishedProbe[]): Promise<FinishedProbe[]> {
  const { store, intervals } = session.dependencies
  const observed = probes.filter(({ observation }) => observation !== null)
  const batch = observed.map(({ observation }) => observation!)
  const outcomes = await ingest(store, batch, { intervals, leases: session.leases() })
  if (outcomes.includes('ahead')) throw new CrawlPauseError('clock', CLOCK_AHEAD_MESSAGE)
  return observed.filter((_, place) => outcomes[place] === 'lost')
}

/**
 * Postpones names that could not be probed, and backs off their crawl requests in memory. After a first deferral, the
 * backoff is short, because the wait is now known. If another writer was faster, the state stays as that writer saved
 * it.
 */
async function postponeRetried(session: CrawlSession, probes: readonly FinishedProbe[]): Promise<void> {
  if (probes.length === 0) return
  const { store } = session.dependencies
  const states = await store.observations.crawlStates(probes.map(({ candidate }) => candidate.name))
  const now = await store.now()
  const changes = states.flatMap((state, place) => {
    const probe = probes[place]!
    // long if the address requested a backoff
    const wait = probe.deferredAt === null ? 0 : session.dependencies.politeness.wait({ addresses: [probe.deferredAt] })
    const isFirstDeferral = probe.deferredAt !== null && session.memory.failuresInRow.get(state.name) === undefined
    const pause = Math.max(retryDelaySeconds(session, probe), Math.ceil(wait / 1000))
    if (probe.candidate.requests.size > 0)
      session.backOff(state.name, isFirstDeferral ? Math.max(REQUEST_BACKOFF_MS, wait) : 1000 * pause)
    const due = probe.observation === null ? Math.max(now + pause, state.due) : now + pause
    return state.version > 0 && !state.forgotten ? [postponedChange(state, due)] : []
  })
  await store.observations.save(changes, session.leases())
  await dropLookupRequests(session, probes)
}

/** Drops lookup requests after too many attempts. Another lookup may request the name again. */
async function dropLookupRequests(
  { dependencies: crawl, memory }: CrawlSession,
  probes: readonly FinishedProbe[],
): Promise<void> {
  const lookups = probes
    .filter(({ candidate }) => candidate.requests.has('lookup'))
    .map(({ candidate }) => candidate.name)
  const dropped = lookups.filter((name) => (memory.failuresInRow.get(name) ?? 0) >= MAX_LOOKUP_ATTEMPTS)
  for (const name of dropped) memory.lookupRequests.delete(name)
  if (dropped.length > 0) await crawl.store.crawlRequests.complete('lookup', dropped)
}

/** Seconds until the next attempt, doubled after each failure in a row. */
function retryDelaySeconds(
  { memory: { failuresInRow } }: CrawlSession,
  { candidate: { name } }: FinishedProbe,
): number {
  const failures = failuresInRow.get(name) ?? 0
  failuresInRow.set(name, failures + 1)
  return Math.min(MIN_RETRY_SECONDS * 2 ** failures, MAX_RETRY_SECONDS)
}

async function fulfilRequests(session: CrawlSession, done: readonly FinishedProbe[]): Promise<void> {
  for (const kind of CRAWL_REQUEST_KINDS) {
    const names = done.filter(({ candidate }) => candidate.requests.has(kind)).map(({ candidate }) => candidate.name)
    if (names.length > 0) await session.dependencies.store.crawlRequests.complete(kind, names)
  }
}

function observedAddresses({ observation }: FinishedProbe): IpAddress[] {
  const { A = [], AAAA = [] } = observation?.dns?.records ?? {}
  return [...A.map(({ ipv4_address }) => ipv4_address), ...AAAA.map(({ ipv6_address }) => ipv6_address)]
}

/** Counts the name for its name servers, because their rate limit grows with their names. */
function countForNameServers({ dependencies: crawl, memory }: CrawlSession, { observation }: FinishedProbe): void {
  const nameServers = observation === null ? '' : observedNameServers(observation)
  if (nameServers !== '')
    crawl.politeness.setNameCount({ nameServers }, memory.nameServerCounts.add(nameServers, crawl.clock.monotonicMs()))
}

/** Completes a candidate and updates the count of its sweep. */
function finishCandidate(session: CrawlSession, { candidate, isRetried }: FinishedProbe): void {
  const { name, heldRange: range, state, readAt } = candidate
  if (!isRetried) {
    session.memory.failuresInRow.delete(name)
    session.memory.lookupRequests.delete(name)
  }
  const wasDue = candidate.state.due <= readAt && range.sweep !== null
  if (wasDue && !isRetried)
    range.sweep!.count = countAfterProbe(range.sweep!.count, state, readAt, readAt + session.dependencies.intervals.min)
  session.forget(candidate)
}
