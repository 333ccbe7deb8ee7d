/**
 * The verification of a batch: the self-check and the anomaly detector. List crawls and the continuous crawl use it to
 * decide whether to save results.
 */

import type { OutcomeCount } from '../../store/port/schedule.ts'
import type { Instant } from '../../values/time.ts'
import { CrawlPauseError, type SelfCheckOutcome } from '../session.ts'
import { type AnomalyState, BASELINE_SECONDS, detectAnomaly } from './anomaly-detector.ts'

export type BatchVerification = {
  runSelfCheck(): Promise<SelfCheckOutcome>
  /** The outcomes saved since a time. Empty if the destination has no history. */
  outcomeHistory(since: Instant): Promise<readonly OutcomeCount[]>
  now(): Promise<Instant>
  /** The state between batches. */
  memory: { anomalyState: AnomalyState }
  log(message: string): void
}

/** Throws CrawlPauseError if the self-check fails. */
export async function requireSelfCheck({ runSelfCheck }: Pick<BatchVerification, 'runSelfCheck'>): Promise<void> {
  const outcome = await runSelfCheck()
  if (!outcome.passed) throw new CrawlPauseError('self_check', outcome.reason)
}

/** Throws CrawlPauseError if the outcomes of the probes are not credible, although the self-check passed. */
export async function requireNoAnomaly(
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
