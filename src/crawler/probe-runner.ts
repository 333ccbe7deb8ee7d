/** Starts probes up to the rate and concurrency limits, and collects their results. */

import { prepareObservation } from '../apply/prepare.ts'
import type { Observation } from '../observe/observation.ts'
import { observe } from '../observe/observe.ts'
import type { ProbeResult } from '../probe/probe-result.ts'
import type { Candidate, ObservedProbe } from './request-source.ts'
import type { CrawlSession } from './session.ts'
import type { ProbeOutcome } from './status/stats.ts'

/** Maximum of unsaved results. No probe starts beyond it. */
const MAX_UNSAVED_PROBES = 2_000
/** Maximum of results in a batch. */
export const MAX_BATCH_PROBES = 500
/** The longest wait in milliseconds between two checks. */
const MAX_WAIT_MS = 60_000

export async function startProbes<C extends Candidate>(session: CrawlSession<C>): Promise<void> {
  while (!session.isEnding) {
    const wait = startReadyProbes(session)
    await session.mayProbe.wait(wait)
  }
}

/** Starts all probes that may start now. Returns the milliseconds until the next one may. */
function startReadyProbes<C extends Candidate>(session: CrawlSession<C>): number {
  const { dependencies, memory, queue, source } = session
  while (!session.isEnding) {
    const free = dependencies.parallel - memory.inFlight.size
    if (free <= 0 || session.finished.length >= MAX_UNSAVED_PROBES) return MAX_WAIT_MS
    const now = dependencies.clock.monotonicMs()
    const wait = dependencies.rateLimit.wait(now)
    if (wait > 0) return wait
    const candidate = queue.next(now)
    if (candidate === null) return Math.min(MAX_WAIT_MS, queue.nextRelease() - now, source.refill(free))
    if (source.mayStart(candidate, now)) startProbe(session, candidate, now)
    else source.takeBack(candidate, false)
  }
  return 0
}

function startProbe<C extends Candidate>(session: CrawlSession<C>, candidate: C, now: number): void {
  const { dependencies, memory } = session
  dependencies.rateLimit.acquire(now)
  memory.inFlight.add(candidate.id)
  session.probesInFlight++
  void probeCandidate(session, candidate).then((probed) => {
    memory.inFlight.delete(candidate.id)
    session.probesInFlight--
    session.mayProbe.notify()
    const outcome = probed === null ? 'failed' : probeOutcomeOf(probed.observation)
    dependencies.stats.countProbe(candidate.kind, outcome, dependencies.clock.monotonicMs())
    if (session.pause === null && session.has(candidate)) keepForBatch(session, candidate, probed, outcome)
    if (session.probesInFlight === 0 || session.finished.length >= MAX_BATCH_PROBES) session.probesDone.notify()
  })
}

/** Probes a name. Returns null after a program error. The ready queue acquired the targets for one probe only. */
async function probeCandidate<C extends Candidate>(
  { dependencies }: CrawlSession<C>,
  { name, targets }: C,
): Promise<ObservedProbe | null> {
  const { probe, isRepeated, stats, onProbeError } = dependencies
  try {
    const probes = [probe(name, targets.addresses ?? []), ...(isRepeated() ? [probe(name)] : [])]
    const [first, other] = await Promise.all(probes.map(observeProbe))
    if (other !== undefined) compareRepeated(stats.repeated, first!.observation, other.observation)
    return first!
  } catch (error) {
    onProbeError(name, error)
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
function probeOutcomeOf({ dns, web }: Observation): ProbeOutcome {
  if (dns === null) return 'notProbed'
  if (dns.status !== 'ok') return dns.status
  return web !== null && !web.has_website ? 'noWebsite' : 'ok'
}

/** Adds a result to the batch, unless the source takes the candidate back. */
function keepForBatch<C extends Candidate>(
  session: CrawlSession<C>,
  candidate: C,
  probed: ObservedProbe | null,
  outcome: ProbeOutcome,
): void {
  const finishedProbe = session.source.finish(candidate, probed, outcome)
  if (finishedProbe === null) return
  if (session.finished.length === 0) session.oldestFinishedAt = session.dependencies.clock.monotonicMs()
  const revealed = probed === null ? [] : (session.dependencies.revealedBy?.(probed) ?? [])
  session.finished.push({ ...finishedProbe, revealed })
}
