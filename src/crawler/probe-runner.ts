/** Starts probes up to the rate and concurrency limits, and collects their results. */

import { prepareObservation } from '../apply/prepare.ts'
import type { Observation } from '../observe/observation.ts'
import { observe } from '../observe/observe.ts'
import type { ProbeResult } from '../probe/probe-result.ts'
import type { Candidate } from './queue/held-range.ts'
import type { CrawlSession, FinishedProbe } from './session.ts'
import type { ProbeOutcome } from './status/stats.ts'

/** Maximum of unsaved results. No probe starts beyond it. */
const MAX_UNSAVED_PROBES = 2_000
/** One in this many probes runs twice at once. */
const REPEAT_ONE_IN = 1_000
/** Milliseconds that a lease must have left when a probe starts. */
const MIN_LEASE_LEFT_MS = 20_000
/** The longest wait in milliseconds between two checks. */
const MAX_WAIT_MS = 60_000

export async function startProbes(session: CrawlSession): Promise<void> {
  while (!session.isEnding) {
    const wait = startReadyProbes(session)
    await session.mayProbe.wait(wait)
  }
}

/** Starts all probes that may start now. Returns the milliseconds until the next one may. */
function startReadyProbes(session: CrawlSession): number {
  const { dependencies: crawl, memory, queue } = session
  while (!session.isEnding) {
    if (memory.inFlight.size >= crawl.parallel || session.finished.length >= MAX_UNSAVED_PROBES) return MAX_WAIT_MS
    const now = crawl.clock.monotonicMs()
    const wait = memory.rate.wait(now)
    if (wait > 0) return wait
    const candidate = queue.next(now)
    if (candidate === null) return Math.min(MAX_WAIT_MS, queue.nextRelease() - now)
    if (mayStartProbe(session, candidate, now)) startProbe(session, candidate, now)
    else session.returnToSlot(candidate)
  }
  return 0
}

/**
 * False while a probe of an earlier session is in flight, or if the lease ends so soon that another crawler may probe
 * too.
 */
function mayStartProbe(
  { dependencies: crawl, memory }: CrawlSession,
  { name, heldRange: range }: Candidate,
  now: number,
): boolean {
  return !memory.inFlight.has(name) && !crawl.optOut.hasName(name) && range.leasedUntil - now >= MIN_LEASE_LEFT_MS
}

function startProbe(session: CrawlSession, candidate: Candidate, now: number): void {
  const { dependencies: crawl, memory, sinceLastRead } = session
  memory.rate.acquire(now)
  memory.inFlight.add(candidate.name)
  session.probesInFlight++
  sinceLastRead.started++
  void probeCandidate(session, candidate).then((probed) => {
    memory.inFlight.delete(candidate.name)
    session.probesInFlight--
    session.mayProbe.notify()
    const outcome = probed === null ? 'failed' : probeOutcomeOf(probed.observation)
    crawl.stats.countProbe(candidate.kind, outcome, crawl.clock.monotonicMs())
    if (session.pause === null && session.has(candidate)) keepForBatch(session, candidate, probed, outcome)
    if (session.probesInFlight === 0 || session.finished.length >= MAX_BATCH_PROBES) session.probesDone.notify()
  })
}

/** Maximum of results in a batch. */
export const MAX_BATCH_PROBES = 500

type ObservedProbe = { result: ProbeResult; observation: Observation }

/** Returns null for a program error. The targets that the ready queue acquired cover only one probe. */
async function probeCandidate(
  { dependencies: crawl }: CrawlSession,
  { name, targets }: Candidate,
): Promise<ObservedProbe | null> {
  try {
    const isRepeated = crawl.random() < 1 / REPEAT_ONE_IN
    const probes = [crawl.probe(name, targets.addresses ?? []), ...(isRepeated ? [crawl.probe(name)] : [])]
    const [first, other] = await Promise.all(probes.map(observeProbe))
    if (other !== undefined) compareRepeated(crawl.stats.repeated, first!.observation, other.observation)
    return first!
  } catch (error) {
    crawl.onFault(error)
    return null
  }
}

async function observeProbe(probing: Promise<ProbeResult>): Promise<ObservedProbe> {
  const result = await probing
  return { result, observation: observe(result) }
}

function compareRepeated(repeated: { total: number; differed: number }, one: Observation, other: Observation): void {
  if (one.dns === null || other.dns === null) return
  const [a, b] = [prepareObservation(one), prepareObservation(other)]
  const haveBothWeb = one.web !== null && other.web !== null
  repeated.total++
  if (a.dnsFingerprint !== b.dnsFingerprint || (haveBothWeb && a.webFingerprint !== b.webFingerprint))
    repeated.differed++
}

/** The outcome of a probe by its observation. */
export function probeOutcomeOf({ dns, web }: Observation): ProbeOutcome {
  if (dns === null) return 'notProbed'
  if (dns.status !== 'ok') return dns.status
  return web !== null && !web.has_website ? 'noWebsite' : 'ok'
}

/**
 * Adds a result to the batch. A name with a deferred web part is probed again soon. For a new name, the DNS part is
 * saved anyway, so that its targets are known next time.
 */
function keepForBatch(
  session: CrawlSession,
  candidate: Candidate,
  probed: ObservedProbe | null,
  outcome: ProbeOutcome,
): void {
  const { clock, stats } = session.dependencies
  const deferredAt = probed?.result.deferredAt ?? null
  const isRetried = probed === null || outcome === 'notProbed' || deferredAt !== null
  const isSaved =
    probed !== null &&
    outcome !== 'notProbed' &&
    (deferredAt === null || candidate.kind === 'new' || candidate.kind === 'lookup')
  if (session.finished.length === 0) session.oldestFinishedAt = clock.monotonicMs()
  const at = probed?.result.at ?? candidate.readAt
  const finishedProbe: FinishedProbe = {
    candidate,
    at,
    observation: isSaved ? probed.observation : null,
    outcome,
    isRetried,
    deferredAt,
  }
  session.finished.push(finishedProbe)
  if (candidate.kind === 'due' && candidate.state.due > 0) stats.recordLag(Math.max(0, at - candidate.state.due))
}
