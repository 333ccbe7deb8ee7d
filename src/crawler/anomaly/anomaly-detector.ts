/**
 * The anomaly detector: decides batch by batch whether the outcomes of probes are credible, and when to accept a
 * change. Pure.
 */

import type { OutcomeCount } from '../../store/port/schedule.ts'
import { type Instant, SECONDS_PER_DAY } from '../../values/time.ts'
import {
  addOutcomes,
  anomalyOf,
  baselineBlocks,
  isSufficientBaseline,
  MIN_SAMPLE_PROBES,
  type OutcomeSums,
} from './baseline.ts'
import type { PriorState } from './prior-state.ts'

/**
 * An alarm: its reason, the affected prior state, its start, and the batches tried since. `nextTrialAt`: the time of
 * the next trial, `trialPauseSeconds` after the previous one.
 */
type AnomalyAlarm = {
  reason: string
  kind: string
  since: Instant
  nextTrialAt: Instant
  trialPauseSeconds: number
  trials: readonly (readonly OutcomeCount[])[]
}

/**
 * The state between batches. `recentBatches`: accepted batches, newest first. `accepted`: outcomes of trials that
 * extend the baseline although none of them was saved.
 */
export type AnomalyState = {
  recentBatches: readonly (readonly OutcomeCount[])[]
  alarm: AnomalyAlarm | null
  accepted: readonly OutcomeCount[]
}

/**
 * `anomaly`: why the batch must be discarded, or null to save it. `message`: news for the operator, sent once, or null.
 */
export type AnomalyVerdict = { state: AnomalyState; anomaly: string | null; message: string | null }

export const INITIAL_ANOMALY_STATE: AnomalyState = { recentBatches: [], alarm: null, accepted: [] }

/** The baseline blocks of each kind with a sufficient history. */
type Baseline = ReadonlyMap<string, readonly OutcomeSums[]>

const NEW_NAMES: PriorState = 'new'
/** The age of the oldest outcomes that the baseline includes. */
export const BASELINE_SECONDS = 7 * SECONDS_PER_DAY
/**
 * Outcomes of the last seconds are not part of the baseline. A fault in progress must not count as its own baseline.
 */
const BASELINE_LAG_SECONDS = 10_800
/** The number of recent probes, except those of new names, that are evaluated together. */
const WINDOW_PROBES = 2_000
/** Seconds until the first trial, doubled after each trial, and the maximum. */
const MIN_TRIAL_PAUSE_SECONDS = 300
const MAX_TRIAL_PAUSE_SECONDS = 3_600
/**
 * A change is accepted after this many trials that agree and this many seconds. After the longer time, they need not
 * agree.
 */
const TRIALS_TO_ACCEPT = 12
const STEADY_ACCEPT_SECONDS = 43_200
const MAX_ALARM_SECONDS = 172_800
/** The log-improbability, in nats, up to which a trial ends the alarm, and up to which two halves of trials agree. */
const TRIAL_NATS = 3
const AGREEMENT_NATS = 6

/**
 * Evaluates a batch before it is saved, right after a successful self-check. `week`: the saved outcomes of the last
 * seven days. During an alarm it discards every batch. A batch after `nextTrialAt` that matches the baseline ends the
 * alarm. A lasting change is accepted at the end.
 */
export function detectAnomaly(
  state: AnomalyState,
  batch: readonly OutcomeCount[],
  week: readonly OutcomeCount[],
  now: Instant,
): AnomalyVerdict {
  const accepted = state.accepted.filter(({ hour }) => hour > now - BASELINE_SECONDS)
  const history = week.filter(({ hour }) => hour > now - BASELINE_SECONDS && hour <= now - BASELINE_LAG_SECONDS)
  const baseline = baselineOf(history, accepted)
  if (state.alarm !== null) return evaluateTrial({ ...state, accepted }, state.alarm, batch, baseline, now)
  const recentBatches = recentWindow([batch, ...state.recentBatches], now)
  for (const { kind } of batch) {
    const anomaly = firstAnomaly(
      recentBatches.flat().filter((row) => row.kind === kind),
      baseline.get(kind) ?? [],
    )
    if (anomaly === null) continue
    const alarm: AnomalyAlarm = {
      reason: anomaly,
      kind,
      since: now,
      nextTrialAt: now + MIN_TRIAL_PAUSE_SECONDS,
      trialPauseSeconds: MIN_TRIAL_PAUSE_SECONDS,
      trials: [],
    }
    return {
      state: { recentBatches: [], alarm, accepted },
      anomaly,
      message: `anomaly alarm, results are discarded: ${anomaly}`,
    }
  }
  return { state: { recentBatches, alarm: null, accepted }, anomaly: null, message: null }
}

/** Evaluates a batch during an alarm. A batch before the next trial is discarded and not counted. */
function evaluateTrial(
  state: AnomalyState,
  alarm: AnomalyAlarm,
  batch: readonly OutcomeCount[],
  baseline: Baseline,
  now: Instant,
): AnomalyVerdict {
  if (now < alarm.nextTrialAt) return { state, anomaly: alarm.reason, message: null }
  const all = [...alarm.trials, batch]
  if (isAlarmOver(alarm.kind, all, baseline)) {
    return { state: { ...state, alarm: null }, anomaly: null, message: 'outcomes match the baseline again' }
  }
  const trials = all.slice(-TRIALS_TO_ACCEPT)
  const age = now - alarm.since
  if (
    trials.length === TRIALS_TO_ACCEPT &&
    (age >= MAX_ALARM_SECONDS || (age >= STEADY_ACCEPT_SECONDS && trialsAgree(trials)))
  ) {
    const accepted = [...state.accepted, ...trials.flat()]
    return {
      state: { ...state, alarm: null, accepted },
      anomaly: null,
      message: `change accepted after it lasted: ${alarm.reason}`,
    }
  }
  const trialPauseSeconds = Math.min(MAX_TRIAL_PAUSE_SECONDS, 2 * alarm.trialPauseSeconds)
  return {
    state: { ...state, alarm: { ...alarm, trials, trialPauseSeconds, nextTrialAt: now + trialPauseSeconds } },
    anomaly: alarm.reason,
    message: null,
  }
}

/**
 * Whether the last trial matches the baseline, together with enough earlier trials for a sample of the affected kind.
 */
function isAlarmOver(kind: string, trials: readonly (readonly OutcomeCount[])[], baseline: Baseline): boolean {
  const counts = sumOutcomesByKind(trials.slice(-1))
  for (let last = 2; last <= trials.length && (counts.get(kind)?.probes ?? 0) < MIN_SAMPLE_PROBES; last++) {
    const more = sumOutcomesByKind(trials.slice(-last)).get(kind)
    if (more !== undefined) counts.set(kind, more)
  }
  if ((counts.get(kind)?.probes ?? 0) < MIN_SAMPLE_PROBES) return false
  const isWithin = (each: OutcomeSums): boolean =>
    anomalyOf(each, baseline.get(each.kind) ?? [], { nats: TRIAL_NATS, floor: 0 }) === null
  return [...counts.values()].every(isWithin)
}

/** Whether the later half of the trials agrees with the earlier half. */
function trialsAgree(trials: readonly (readonly OutcomeCount[])[]): boolean {
  const earlier = sumOutcomesByKind(trials.slice(0, trials.length / 2))
  const later = sumOutcomesByKind(trials.slice(trials.length / 2))
  return [...later.values()].every((counts) => {
    const before = earlier.get(counts.kind)
    return before === undefined || isAlike(counts, before)
  })
}

function isAlike(one: OutcomeSums, other: OutcomeSums): boolean {
  const isAbove = (a: OutcomeSums, b: OutcomeSums): boolean => anomalyOf(a, [b], { nats: AGREEMENT_NATS }) !== null
  return !isAbove(one, other) && !isAbove(other, one)
}

function baselineOf(history: readonly OutcomeCount[], accepted: readonly OutcomeCount[]): Baseline {
  const more = Map.groupBy(baselineBlocks(accepted, MIN_SAMPLE_PROBES), ({ kind }) => kind)
  const blocks = [...Map.groupBy(baselineBlocks(history), ({ kind }) => kind)].filter(([, each]) =>
    isSufficientBaseline(each),
  )
  return new Map(blocks.map(([kind, each]) => [kind, [...each, ...(more.get(kind) ?? [])]]))
}

/** The newest batch, and earlier ones within the window and one day. */
function recentWindow(batches: AnomalyState['recentBatches'], now: Instant): AnomalyState['recentBatches'] {
  let probes = 0
  return batches.filter((batch, index) => {
    for (const row of batch) if (row.kind !== NEW_NAMES) probes += row.probes
    return index === 0 || (probes <= WINDOW_PROBES && batch.every(({ hour }) => hour > now - SECONDS_PER_DAY))
  })
}

/** Evaluates the newest batch alone and together with earlier ones, so that it detects sudden and slow changes. */
function firstAnomaly(rows: readonly OutcomeCount[], blocks: readonly OutcomeSums[]): string | null {
  let sum: OutcomeSums | null = null
  for (const row of rows) {
    sum = sum === null ? row : addOutcomes(sum, row)
    const anomaly = anomalyOf(sum, blocks)
    if (anomaly !== null) return anomaly
  }
  return null
}

function sumOutcomesByKind(batches: readonly (readonly OutcomeCount[])[]): Map<string, OutcomeSums> {
  const sums = new Map<string, OutcomeSums>()
  for (const row of batches.flat()) {
    const sum = sums.get(row.kind)
    sums.set(row.kind, sum === undefined ? row : addOutcomes(sum, row))
  }
  return sums
}
