/** The plan of the nights: what is to be made now, given the clock, what there is and what ran. Pure. */

import { type Job, type JobRun, PROCESS_DIED_MESSAGE } from '../store/port/jobs.ts'
import { addDays, type Day, dayOf, type Instant, startOfDay } from '../values/time.ts'
import type { FileKind, FileManifest } from './file-store/file-store.ts'
import { FOLLOWUPS, type FollowupDays } from './followup.ts'

/** One thing to be done; `date` is null for what is of no day. */
export type JobStep = { job: Job; date: Day | null }

/** What the plan goes by. */
export type PlanInputs = {
  now: Instant
  /** When a round begins: seconds after UTC midnight, rising, one at least. */
  times: readonly number[]
  /** Every day of which registrations are known, and when what is known of it last changed. */
  days: readonly { day: Day; changed: Instant }[]
  files: Readonly<Record<FileKind, readonly FileManifest[]>>
  /** In the order in which they began. */
  runs: readonly JobRun[]
  /** Whether anybody crawls, and how many names are wanted from it for follow-up files. */
  crawl: { isRunning: boolean; requested: number }
  /** When the inbox is to be looked into again for files that were left there; null where none was. */
  inboxRecheckAt: Instant | null
  /** Seconds for which a follow-up file waits for the crawler, at most. */
  followupWait: number
}

/** The first step, null where nothing is to be done now; and when to look again. */
export type JobPlan = { step: JobStep | null; recheckAt: Instant }

/** What is said of a run that was stopped in order: it is no failure. */
export const STOPPED_MESSAGE = 'it was stopped'

/** Days after their time at which follow-up files are still made: later ones would say nothing of that time. */
export const MAX_FOLLOWUP_DELAY_DAYS = 35
/** How often a job is tried in one round. */
const MAX_TRIES_PER_ROUND = 3
/** Seconds until a job is tried again that failed; twice as many the next time. */
const RETRY_DELAY_SECONDS = 300
/** Seconds between two looks while a crawl is waited for, and at most. */
const CRAWL_CHECK_SECONDS = 60
const MAX_CHECK_SECONDS = 600
/** Seconds by which the clock that changes are noted by may differ from the store's. */
const SOURCE_CLOCK_SKEW_SECONDS = 300
const SECONDS_PER_DAY = 86_400

/** The step that comes first: the inbox, then days, oldest first, then follow-ups, then the snapshot. */
export function planJobs(inputs: PlanInputs): JobPlan {
  const { now, times, runs } = inputs
  const round = currentRound(now, times)
  const book = new RunHistory(runs, round)
  const waits: Instant[] = [nextRound(now, times), now + MAX_CHECK_SECONDS]
  for (const step of dueSteps(inputs, book, waits)) {
    const from = book.retryAt(step)
    if (from !== null && from <= now) return { step, recheckAt: now }
    if (from !== null) waits.push(from)
  }
  return { step: null, recheckAt: Math.min(...waits) }
}

/** Everything that lacks, in its order. What is waited for is left out, and its time added to `waits`. */
function* dueSteps(inputs: PlanInputs, history: RunHistory, wakeTimes: Instant[]): Generator<JobStep> {
  const { now, times, inboxRecheckAt: inboxAgain } = inputs
  const isAgain = inboxAgain !== null && inboxAgain <= now
  if (history.lastSuccessSince('inbox', null, isAgain ? inboxAgain : history.round) === null)
    yield { job: 'inbox', date: null }
  if (inboxAgain !== null && !isAgain) wakeTimes.push(inboxAgain)
  for (const { day, changed } of outdatedDays(inputs, history)) {
    if (changed < now) yield { job: 'daily', date: day }
    else wakeTimes.push(changed + 1) // a file of the same second might be from before the change
  }
  yield* dueFollowupJobs(inputs, history, wakeTimes)
  const first = currentRound(now, times.slice(0, 1))
  const date = dayOf(first)
  if (history.lastSuccessSince('snapshot', date, first) === null) yield { job: 'snapshot', date }
}

/** Days whose sources changed since their file was last made; what changes during the day has to wait for the next round. */
function outdatedDays({ days, files }: PlanInputs, history: RunHistory): PlanInputs['days'] {
  const seen =
    Math.max(history.round, history.lastSuccessSince('inbox', null, history.round)?.endedAt ?? 0) +
    SOURCE_CLOCK_SKEW_SECONDS
  const made = new Map(files.daily.map(({ date, generated }) => [date, generated]))
  const isFresh = (day: Day, changed: Instant): boolean =>
    (made.get(day) ?? -1) > changed || history.lastSuccessSince('daily', day, changed + 1) !== null
  return days
    .filter(({ day, changed }) => day < dayOf(history.round) && changed <= seen && !isFresh(day, changed))
    .sort((a, b) => (a.day < b.day ? -1 : 1))
}

function* dueFollowupJobs(inputs: PlanInputs, history: RunHistory, wakeTimes: Instant[]): Generator<JobStep> {
  const { now, times, files, crawl, followupWait: cutoff } = inputs
  for (const { date, generated, after } of dueFollowups(files, now, times[0]!)) {
    const due = followupDueAt(date, after, times[0]!)
    const queued = history.lastSuccessSince(`request-${after}`, date, Math.max(due, generated))
    const isLate = now - due >= SECONDS_PER_DAY // what the crawler saw now would say nothing of that night
    const until = queued === null ? now : queued.endedAt! + cutoff
    if (crawl.isRunning && queued === null && !isLate) yield { job: `request-${after}`, date }
    else if (!crawl.isRunning || crawl.requested === 0 || now >= until) yield { job: `followup-${after}`, date }
    else wakeTimes.push(Math.min(now + CRAWL_CHECK_SECONDS, until))
  }
}

type DueFollowup = Pick<FileManifest, 'date' | 'generated'> & { after: FollowupDays }

/** The follow-up files that lack, or are older than the daily file that they follow: the oldest first. */
function dueFollowups(files: PlanInputs['files'], now: Instant, time: number): DueFollowup[] {
  return FOLLOWUPS.flatMap((after) => {
    const made = new Map(files[`followup-${after}`].map(({ date, generated }) => [date, generated]))
    return files.daily
      .filter(({ date, held }) => {
        const due = followupDueAt(date, after, time)
        return held === null && due <= now && due > now - MAX_FOLLOWUP_DELAY_DAYS * SECONDS_PER_DAY
      })
      .filter(({ date, generated }) => (made.get(date) ?? -1) < generated)
      .map(({ date, generated }) => ({ date, generated, after }))
  }).sort((a, b) => followupDueAt(a.date, a.after, time) - followupDueAt(b.date, b.after, time))
}

/** When the night after day +7 (+30) begins. */
function followupDueAt(date: Day, after: FollowupDays, time: number): Instant {
  return startOfDay(addDays(date, after + 1)) + time
}

/** When the round began that is the newest at a time. */
export function currentRound(now: Instant, times: readonly number[]): Instant {
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

  /** The newest run that went well and began at or after a time; null for none. */
  lastSuccessSince(job: Job, date: Day | null, from: Instant): JobRun | null {
    const went = ({ startedAt: began, endedAt: ended, error }: JobRun): boolean =>
      began >= from && ended !== null && error === null
    return this.#runsOf({ job, date }).findLast(went) ?? null
  }

  /** From when on a step may be tried; null where it has failed too often in this round. */
  retryAt(step: JobStep): Instant | null {
    const failures = this.#runsOf(step).filter(
      ({ startedAt: began, error }) => began >= this.round && error !== null && error !== STOPPED_MESSAGE,
    )
    if (failures.length >= MAX_TRIES_PER_ROUND) return null
    const last = failures.at(-1)
    if (last === undefined) return 0
    const ended = last.error === PROCESS_DIED_MESSAGE ? last.startedAt : last.endedAt! // when it died nobody knows
    return ended + RETRY_DELAY_SECONDS * 2 ** (failures.length - 1)
  }

  #runsOf(step: JobStep): readonly JobRun[] {
    return this.#runs.get(stepKey(step)) ?? []
  }
}

const stepKey = ({ job, date }: JobStep): string => `${job} ${date}`
