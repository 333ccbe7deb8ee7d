/**
 * The verification of a batch: the self-check and the anomaly detector. List crawls and the continuous crawl use it to
 * decide whether to save results.
 */

import type { OutcomeCount } from '../../store/port/schedule.ts'
import type { Instant } from '../../values/time.ts'
import type { SelfCheckOutcome } from '../session.ts'
import { CrawlPauseError } from '../session.ts'
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
  { outcomeHistory: history, now, memory, log }: BatchVerification,
  batch: readonly OutcomeCount[],
): Promise<void> {
  const at = await now()
  const {
    state: anomalyState,
    anomaly,
    message,
  } = detectAnomaly(memory.anomalyState, batch, await history(at - BASELINE_SECONDS), at)
  memory.anomalyState = anomalyState
  if (message !== null) log(message)
  if (anomaly !== null)
    throw new CrawlPauseError('anomaly', anomaly, Math.max(0, (anomalyState.alarm?.nextTrialAt ?? at) - at) * 1000)
}
