/** Batches of results: counted by hour and prior state, held until the next verification, then saved or discarded. */

import type { OutcomeCount } from '../store/port/schedule.ts'
import type { Instant } from '../values/time.ts'
import { type AnomalyState, BASELINE_SECONDS, detectAnomaly } from './anomaly/anomaly-detector.ts'
import type { PriorState } from './anomaly/prior-state.ts'
import { MAX_BATCH_PROBES } from './probe-runner.ts'
import type { Candidate, FinishedProbe } from './request-source.ts'
import { CrawlPauseError, type CrawlSession, type SchedulerDependencies, type SelfCheckOutcome } from './session.ts'
import type { ProbeOutcome } from './status/stats.ts'

const SECONDS_PER_HOUR = 3_600

/** The outcome of a probe and the prior state of its name. */
type CountableProbe = { at: Instant; outcome: ProbeOutcome; candidate: { prior: PriorState } }

type BatchVerification = {
  runSelfCheck(): Promise<SelfCheckOutcome>
  /** The outcomes saved since a time. Empty if the destination has no history. */
  outcomeHistory(since: Instant): Promise<readonly OutcomeCount[]>
  now(): Promise<Instant>
  /** The state between batches. */
  memory: { anomalyState: AnomalyState }
  log(message: string): void
}

/** Milliseconds that results wait for others. */
export const BATCH_DELAY_MS = 30_000
/** Milliseconds after which results are saved if no probe is in flight. */
const IDLE_BATCH_DELAY_MS = 1_000

/** Verifies and saves batches until the session ends. Throws CrawlPauseError if a verification fails. */
export async function verifyBatches<C extends Candidate>(session: CrawlSession<C>): Promise<void> {
  while (!session.isEnding) {
    await session.probesDone.wait(untilBatchDue(session))
    if (!session.isEnding && untilBatchDue(session) <= 0) await verifyAndSave(session)
  }
}

/** Milliseconds until the next batch is due, or the next self-check if there are no results. */
function untilBatchDue<C extends Candidate>({
  dependencies: { clock, batchMs, idleCheckMs },
  candidates,
  source,
  finished,
  oldestFinishedAt,
  lastVerifiedAt,
  probesInFlight,
}: CrawlSession<C>): number {
  if (finished.length >= MAX_BATCH_PROBES) return 0
  if (finished.length > 0 && finished.length === candidates.size && source.isExhausted()) return 0
  if (finished.length === 0) return lastVerifiedAt + idleCheckMs - clock.monotonicMs()
  const delayMs = probesInFlight === 0 ? Math.min(IDLE_BATCH_DELAY_MS, batchMs) : batchMs
  return oldestFinishedAt + delayMs - clock.monotonicMs()
}

/** Saves the results so far if the self-check passes now. */
export async function verifyAndSave<C extends Candidate>(session: CrawlSession<C>): Promise<void> {
  const { dependencies } = session
  const { clock, stats } = dependencies
  const batch = session.finished
  session.finished = []
  session.oldestFinishedAt = clock.monotonicMs()
  try {
    await requireHealthy(dependencies)
    if (batch.length > 0) await requireNoAnomaly(verificationOf(session), countOutcomes(batch))
    if (batch.length > 0) await saveBatch(session, batch)
  } catch (error) {
    if (batch.length > 0) stats.batches.discarded++
    throw error
  }
  if (batch.length > 0) stats.batches.saved++
  session.lastVerifiedAt = clock.monotonicMs()
  session.mayProbe.notify()
  await session.source.checkpoint?.()
}

/** Throws CrawlPauseError if the self-check fails or the disk lacks space. */
export async function requireHealthy(
  dependencies: Pick<SchedulerDependencies<Candidate>, 'diskShortage' | 'runSelfCheck'>,
): Promise<void> {
  const shortage = (await dependencies.diskShortage?.()) ?? null
  if (shortage !== null) throw new CrawlPauseError('disk', shortage)
  await requireSelfCheck(dependencies)
}

function verificationOf<C extends Candidate>({ dependencies, memory }: CrawlSession<C>): BatchVerification {
  const { runSelfCheck, log, sink } = dependencies
  return { runSelfCheck, log, memory, ...sink.history }
}

/** Writes the results whose candidates the session still has. The source records what became of each. */
async function saveBatch<C extends Candidate>(
  session: CrawlSession<C>,
  batch: readonly FinishedProbe<C>[],
): Promise<void> {
  const { source, dependencies } = session
  const open = batch.filter(({ candidate }) => session.has(candidate))
  const observed = open.filter(({ observation }) => observation !== null)
  const written = await dependencies.sink.write(
    observed.map(({ observation }) => observation!),
    { leases: source.leases?.(), revealed: observed.map(({ revealed = [] }) => revealed) },
  )
  const outcomes = new Map(observed.map((probe, index) => [probe, written[index]!]))
  const saved = await source.settle(open, outcomes)
  await dependencies.sink.history.add(countOutcomes(saved))
  for (const { candidate } of saved) session.forget(candidate)
}

/** Throws CrawlPauseError if the self-check fails. */
async function requireSelfCheck({ runSelfCheck }: Pick<BatchVerification, 'runSelfCheck'>): Promise<void> {
  const outcome = await runSelfCheck()
  if (!outcome.passed) throw new CrawlPauseError('self_check', outcome.reason)
}

/** Throws CrawlPauseError if the outcomes of the probes are not credible, although the self-check passed. */
async function requireNoAnomaly(
  { outcomeHistory, now, memory, log }: BatchVerification,
  batch: readonly OutcomeCount[],
): Promise<void> {
  const at = await now()
  const week = await outcomeHistory(at - BASELINE_SECONDS)
  const { state, anomaly, message } = detectAnomaly(memory.anomalyState, batch, week, at)
  memory.anomalyState = state
  if (message !== null) log(message)
  if (anomaly !== null)
    throw new CrawlPauseError('anomaly', anomaly, Math.max(0, (state.alarm?.nextTrialAt ?? at) - at) * 1000)
}

/** Counts by hour and prior state. Leaves out names that could not be probed. */
function countOutcomes(probes: readonly CountableProbe[]): OutcomeCount[] {
  const all = new Map<string, OutcomeCount>()
  for (const { at, outcome, candidate } of probes) {
    if (outcome === 'notProbed' || outcome === 'failed') continue
    const hour = at - (at % SECONDS_PER_HOUR)
    const key = `${hour} ${candidate.prior}`
    const outcomes = all.get(key) ?? { hour, kind: candidate.prior, probes: 0, servfail: 0, nxdomain: 0, noWebsite: 0 }
    outcomes.probes++
    if (outcome !== 'ok') outcomes[outcome]++
    all.set(key, outcomes)
  }
  return [...all.values()]
}
