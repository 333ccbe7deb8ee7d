/** The self-check of a crawl: control questions and outcome bands, by which lists and the loop decide whether to keep what they saw. */

import type { OutcomeCount } from '../../store/port/schedule.ts'
import type { Instant } from '../../values/time.ts'
import type { SelfCheckOutcome } from '../dependencies.ts'
import { CrawlPauseError } from '../session.ts'
import { type AnomalyState, detectAnomaly } from './anomaly-detector.ts'

export type BatchVerification = {
  /** Asks the control questions. */
  runSelfCheck(): Promise<SelfCheckOutcome>
  /** The outcomes that were saved since a moment; none where nothing is kept of them. */
  outcomeHistory(since: Instant): Promise<readonly OutcomeCount[]>
  now(): Promise<Instant>
  /** What is kept from slice to slice. */
  memory: { anomalyState: AnomalyState }
  log(message: string): void
}

/** Seconds. */
const BASELINE_SECONDS = 604_800

/** Throws Trouble if control questions are not answered as they must be. */
export async function requireSelfCheck({ runSelfCheck }: Pick<BatchVerification, 'runSelfCheck'>): Promise<void> {
  const outcome = await runSelfCheck()
  if (!outcome.passed) throw new CrawlPauseError('self_check', outcome.reason)
}

/** Throws Trouble if what visits came to is not to be believed, though control questions were answered. */
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
