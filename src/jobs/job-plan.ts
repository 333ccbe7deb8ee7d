/** Plans the jobs: which step to run now, by the time, the existing files and the earlier runs. Pure. */

import { type Job, type JobRun, PROCESS_DIED_MESSAGE } from '../store/port/jobs.ts'
import { addDays, type Day, dayOf, type Instant, SECONDS_PER_DAY, startOfDay } from '../values/time.ts'
import type { FileKind, FileManifest } from './file-store/file-store.ts'
import { FOLLOWUPS, type FollowupDays } from './followup.ts'

/**
 * One step of work; `date` is null if the step does not belong to a day. `release`: it publishes the day even if the
 * quality check holds it.
 */
export type JobStep = { job: Job; date: Day | null; release?: true }

/** The inputs of the plan. */
export type PlanInputs = {
  now: Instant
  /** Times at which a round begins, in seconds after midnight UTC, ascending, at least one. */
  times: readonly number[]
  /** Every day with registrations, and when its registrations last changed. */
  days: readonly { day: Day; changed: Instant }[]
  files: Readonly<Record<FileKind, readonly FileManifest[]>>
  /** Days whose held file an operator has released. */
  releases: readonly Day[]
  /** In order of their start. */
  runs: readonly JobRun[]
  /** Whether a crawler is running, and how many crawl requests for follow-up files are open. */
  crawl: { isRunning: boolean; requested: number }
  /** When to check the inbox again for files that were left there; null if none was left. */
  inboxRecheckAt: Instant | null
  /** Whether a removal of old data has ended before it was complete. */
  isPruneIncomplete: boolean
  /** Maximum time in seconds that a follow-up file waits for the crawler. */
  followupWait: number
}

/** The next step, null if there is nothing to do now, and when to plan again. */
export type JobPlan = { step: JobStep | null; recheckAt: Instant }

/** The message of a run that was stopped gracefully, which is not a failure. */
export const STOPPED_MESSAGE = 'it was stopped'

/** Days after its due date for which a follow-up file is still built. Later facts would not describe that date. */
export const MAX_FOLLOWUP_DELAY_DAYS = 35
/** Tries of a step per round. */
const MAX_TRIES_PER_ROUND = 3
/** Seconds before the first retry of a failed step; doubled for each further retry. */
const RETRY_DELAY_SECONDS = 300
/** Maximum seconds between two checks while a step waits for the crawler. */
const CRAWL_CHECK_SECONDS = 60
/** Seconds between two checks for releases while a day is held. */
const RELEASE_CHECK_SECONDS = 30
const MAX_CHECK_SECONDS = 600
/** Maximum difference in seconds between the clock of the sources and the clock of the store. */
const SOURCE_CLOCK_SKEW_SECONDS = 300

/**
 * Returns the next step: the inbox first, then days, oldest first, then follow-ups, then the snapshot, and once a day the
 * removal of what is old, which continues between other steps until it is complete.
 */
export function planJobs(inputs: PlanInputs): JobPlan {
  const { now, times, runs } = inputs
  const round = currentRound(now, times)
  const history = new RunHistory(runs, round)
  const wakeTimes: Instant[] = [nextRound(now, times), now + MAX_CHECK_SECONDS]
  for (const step of dueSteps(inputs, history, wakeTimes)) {
    const from = history.retryAt(step)
    if (from !== null && from <= now) return { step, recheckAt: now }
    if (from !== null) wakeTimes.push(from)
  }
  return { step: null, recheckAt: Math.min(...wakeTimes) }
}

/** Yields the missing steps in order. Skips steps that must wait, and adds their times to `wakeTimes`. */
function* dueSteps(inputs: PlanInputs, history: RunHistory, wakeTimes: Instant[]): Generator<JobStep> {
  const { now, times, inboxRecheckAt } = inputs
  const isRecheckDue = inboxRecheckAt !== null && inboxRecheckAt <= now
  if (history.lastSuccessSince('inbox', null, isRecheckDue ? inboxRecheckAt : history.round) === null)
    yield { job: 'inbox', date: null }
  if (inboxRecheckAt !== null && !isRecheckDue) wakeTimes.push(inboxRecheckAt)
  for (const { day, changed } of outdatedDays(inputs, history)) {
    if (changed < now) yield { job: 'daily', date: day }
    else wakeTimes.push(changed + 1) // a file of the same second may be older than the change
  }
  yield* dueReleases(inputs, wakeTimes)
  yield* dueFollowupJobs(inputs, history, wakeTimes)
  const first = currentRound(now, times.slice(0, 1))
  const date = dayOf(first)
  if (!isSnapshotBuilt(inputs.files, first) && !history.hasJustSucceeded('snapshot', date, now))
    yield { job: 'snapshot', date }
  if (inputs.isPruneIncomplete || history.lastSuccessSince('prune', null, first) === null)
    yield { job: 'prune', date: null }
}

/** Held days that an operator has released. While there are held days, the plan looks for releases every minute. */
function* dueReleases({ files, releases, now }: PlanInputs, wakeTimes: Instant[]): Generator<JobStep> {
  const held = files.daily.filter((file) => file.held !== null)
  for (const { date } of held) if (releases.includes(date)) yield { job: 'daily', date, release: true }
  if (held.length > 0) wakeTimes.push(now + RELEASE_CHECK_SECONDS)
}

/**
 * Whether both editions describe a time since an instant. The files decide, not the runs, because files can be lost.
 */
function isSnapshotBuilt(files: PlanInputs['files'], since: Instant): boolean {
  return [files.snapshot, files.enriched].every((edition) => edition.some(({ generated }) => generated >= since))
}

/** Days whose sources changed after their file was built. Changes during a round wait for the next round. */
function outdatedDays({ days, files, now }: PlanInputs, history: RunHistory): PlanInputs['days'] {
  const completeUntil =
    Math.max(history.round, history.lastSuccessSince('inbox', null, history.round)?.endedAt ?? 0) +
    SOURCE_CLOCK_SKEW_SECONDS
  const builtAt = { daily: generatedByDay(files.daily), dropped: generatedByDay(files.dropped) }
  const isBuilt = (kind: 'daily' | 'dropped', day: Day, changed: Instant): boolean => {
    const generated = builtAt[kind].get(day)
    if (generated === undefined) return history.hasJustSucceeded('daily', day, now)
    return generated > changed || history.lastSuccessSince('daily', day, changed + 1) !== null // a run may keep the file
  }
  return days
    .filter(({ day, changed }) => day < dayOf(history.round) && changed <= completeUntil)
    .filter(({ day, changed }) => !isBuilt('daily', day, changed) || !isBuilt('dropped', day, changed))
    .sort((a, b) => (a.day < b.day ? -1 : 1))
}

function generatedByDay(files: readonly FileManifest[]): Map<Day, Instant> {
  return new Map(files.map(({ date, generated }) => [date, generated]))
}

function* dueFollowupJobs(inputs: PlanInputs, history: RunHistory, wakeTimes: Instant[]): Generator<JobStep> {
  const { now, times, files, crawl, followupWait } = inputs
  for (const { date, generated, after } of dueFollowups(files, now, times[0]!)) {
    const due = followupDueAt(date, after, times[0]!)
    const queued = history.lastSuccessSince(`request-${after}`, date, Math.max(due, generated))
    const isLate = now - due >= SECONDS_PER_DAY // a probe now would not describe the due date
    const until = queued === null ? now : queued.endedAt! + followupWait
    if (crawl.isRunning && queued === null && !isLate) yield { job: `request-${after}`, date }
    else if (!crawl.isRunning || crawl.requested === 0 || now >= until) yield { job: `followup-${after}`, date }
    else wakeTimes.push(Math.min(now + CRAWL_CHECK_SECONDS, until))
  }
}

type DueFollowup = Pick<FileManifest, 'date' | 'generated'> & { after: FollowupDays }

/** Follow-up files that are missing, or older than their daily file, oldest first. */
function dueFollowups(files: PlanInputs['files'], now: Instant, time: number): DueFollowup[] {
  return FOLLOWUPS.flatMap((after) => {
    const builtAt = generatedByDay(files[`followup-${after}`])
    return files.daily
      .filter(({ date, held }) => {
        const due = followupDueAt(date, after, time)
        return held === null && due <= now && due > now - MAX_FOLLOWUP_DELAY_DAYS * SECONDS_PER_DAY
      })
      .filter(({ date, generated }) => (builtAt.get(date) ?? -1) < generated)
      .map(({ date, generated }) => ({ date, generated, after }))
  }).sort((a, b) => followupDueAt(a.date, a.after, time) - followupDueAt(b.date, b.after, time))
}

/** When the first round after day +7 (+30) begins. */
function followupDueAt(date: Day, after: FollowupDays, time: number): Instant {
  return startOfDay(addDays(date, after + 1)) + time
}

/** When the current round began. */
function currentRound(now: Instant, times: readonly number[]): Instant {
  const midnight = startOfDay(dayOf(now))
  const time = times.findLast((each) => midnight + each <= now)
  return time === undefined ? midnight - SECONDS_PER_DAY + times.at(-1)! : midnight + time
}

/** When the next round begins. */
export function nextRound(now: Instant, times: readonly number[]): Instant {
  const midnight = startOfDay(dayOf(now))
  const time = times.find((each) => midnight + each > now)
  return time === undefined ? midnight + SECONDS_PER_DAY + times[0]! : midnight + time
}

/** The runs by job and date. */
class RunHistory {
  readonly round: Instant
  readonly #runs = new Map<string, JobRun[]>()

  constructor(runs: readonly JobRun[], round: Instant) {
    this.round = round
    for (const run of runs) {
      const key = stepKey(run)
      const same = this.#runs.get(key)
      if (same === undefined) this.#runs.set(key, [run])
      else same.push(run)
    }
  }

  /** The newest successful run that began at or after a time; null if there is none. */
  lastSuccessSince(job: Job, date: Day | null, from: Instant): JobRun | null {
    const hasSucceeded = ({ startedAt, endedAt, error }: JobRun): boolean =>
      startedAt >= from && endedAt !== null && error === null
    return this.#runsOf({ job, date }).findLast(hasSucceeded) ?? null
  }

  /**
   * Whether a run has succeeded in the last MAX_CHECK_SECONDS. A file that is missing nevertheless is built again after
   * that time, so that a file store that loses its files does not keep the job scheduler busy.
   */
  hasJustSucceeded(job: Job, date: Day | null, now: Instant): boolean {
    return this.#runsOf({ job, date }).some(
      ({ endedAt, error }) => error === null && now - (endedAt ?? 0) < MAX_CHECK_SECONDS,
    )
  }

  /** When the step may be tried next; null if it has failed too often in this round. */
  retryAt(step: JobStep): Instant | null {
    const failures = this.#runsOf(step).filter(
      ({ startedAt, error }) => startedAt >= this.round && error !== null && error !== STOPPED_MESSAGE,
    )
    if (failures.length >= MAX_TRIES_PER_ROUND) return null
    const last = failures.at(-1)
    if (last === undefined) return 0
    const ended = last.error === PROCESS_DIED_MESSAGE ? last.startedAt : last.endedAt! // the time of the crash is unknown
    return ended + RETRY_DELAY_SECONDS * 2 ** (failures.length - 1)
  }

  #runsOf(step: JobStep): readonly JobRun[] {
    return this.#runs.get(stepKey(step)) ?? []
  }
}

const stepKey = ({ job, date }: JobStep): string => `${job} ${date}`
