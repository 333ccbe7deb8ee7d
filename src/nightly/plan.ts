/** The plan of the nights: what is to be made now, given the clock, what there is and what ran. Pure. */

import { DIED, type Job, type Run } from '../store/jobs.ts'
import { addDays, type Day, dayOf, type Instant, startOf } from '../words/time.ts'
import { FOLLOWUPS, type Followup } from './followup.ts'
import type { FileKind, Manifest } from './shelf.ts'

/** One thing to be done; `date` is null for what is of no day. */
export type Step = { job: Job; date: Day | null }

/** What the plan goes by. */
export type Known = {
  now: Instant
  /** When a round begins: seconds after UTC midnight, rising, one at least. */
  times: readonly number[]
  /** Every day of which registrations are known, and when what is known of it last changed. */
  days: readonly { day: Day; changed: Instant }[]
  files: Readonly<Record<FileKind, readonly Manifest[]>>
  /** In the order in which they began. */
  runs: readonly Run[]
  /** Whether anybody crawls, and how many names are wanted from it for follow-up files. */
  crawl: { lives: boolean; wanted: number }
  /** When the inbox is to be looked into again for files that were left there; null where none was. */
  inboxAgain: Instant | null
  /** Seconds for which a follow-up file waits for the crawler, at most. */
  cutoff: number
}

/** The first step, null where nothing is to be done now; and when to look again. */
export type Plan = { step: Step | null; again: Instant }

/** What is said of a run that was stopped in order: it is no failure. */
export const STOPPED = 'it was stopped'

/** Days after their time at which follow-up files are still made: later ones would say nothing of that time. */
export const LATE_DAYS = 35
/** How often a job is tried in one round. */
const TRIES = 3
/** Seconds until a job is tried again that failed; twice as many the next time. */
const PAUSE = 300
/** Seconds between two looks while a crawl is waited for, and at most. */
const LOOK = 60
const LOOK_MOST = 600
/** Seconds by which the clock that changes are noted by may differ from the store's. */
const SKEW = 300
const DAY = 86_400

/** The step that comes first: the inbox, then days, oldest first, then follow-ups, then the snapshot. */
export function planOf(known: Known): Plan {
  const { now, times, runs } = known
  const round = roundOf(now, times)
  const book = new Book(runs, round)
  const waits: Instant[] = [roundAfter(now, times), now + LOOK_MOST]
  for (const step of steps(known, book, waits)) {
    const from = book.from(step)
    if (from !== null && from <= now) return { step, again: now }
    if (from !== null) waits.push(from)
  }
  return { step: null, again: Math.min(...waits) }
}

/** Everything that lacks, in its order. What is waited for is left out, and its time added to `waits`. */
function* steps(known: Known, book: Book, waits: Instant[]): Generator<Step> {
  const { now, times, inboxAgain } = known
  const isAgain = inboxAgain !== null && inboxAgain <= now
  if (book.since('inbox', null, isAgain ? inboxAgain : book.round) === null) yield { job: 'inbox', date: null }
  if (inboxAgain !== null && !isAgain) waits.push(inboxAgain)
  for (const { day, changed } of staleDays(known, book)) {
    if (changed < now) yield { job: 'daily', date: day }
    else waits.push(changed + 1) // a file of the same second might be from before the change
  }
  yield* followups(known, book, waits)
  const first = roundOf(now, times.slice(0, 1))
  const date = dayOf(first)
  if (book.since('snapshot', date, first) === null) yield { job: 'snapshot', date }
}

/** Days whose sources changed since their file was last made; what changes during the day has to wait for the next round. */
function staleDays({ days, files }: Known, book: Book): Known['days'] {
  const seen = Math.max(book.round, book.since('inbox', null, book.round)?.ended ?? 0) + SKEW
  const made = new Map(files.daily.map(({ date, generated }) => [date, generated]))
  const isFresh = (day: Day, changed: Instant): boolean =>
    (made.get(day) ?? -1) > changed || book.since('daily', day, changed + 1) !== null
  return days
    .filter(({ day, changed }) => day < dayOf(book.round) && changed <= seen && !isFresh(day, changed))
    .sort((a, b) => (a.day < b.day ? -1 : 1))
}

function* followups(known: Known, book: Book, waits: Instant[]): Generator<Step> {
  const { now, times, files, crawl, cutoff } = known
  for (const { date, generated, after } of dueFollowups(files, now, times[0]!)) {
    const due = dueOf(date, after, times[0]!)
    const queued = book.since(`queue-${after}`, date, Math.max(due, generated))
    const isLate = now - due >= DAY // what the crawler saw now would say nothing of that night
    const until = queued === null ? now : queued.ended! + cutoff
    if (crawl.lives && queued === null && !isLate) yield { job: `queue-${after}`, date }
    else if (!crawl.lives || crawl.wanted === 0 || now >= until) yield { job: `followup-${after}`, date }
    else waits.push(Math.min(now + LOOK, until))
  }
}

type Due = Pick<Manifest, 'date' | 'generated'> & { after: Followup }

/** The follow-up files that lack, or are older than the daily file that they follow: the oldest first. */
function dueFollowups(files: Known['files'], now: Instant, time: number): Due[] {
  return FOLLOWUPS.flatMap((after) => {
    const made = new Map(files[`followup-${after}`].map(({ date, generated }) => [date, generated]))
    return files.daily
      .filter(({ date, held }) => {
        const due = dueOf(date, after, time)
        return held === null && due <= now && due > now - LATE_DAYS * DAY
      })
      .filter(({ date, generated }) => (made.get(date) ?? -1) < generated)
      .map(({ date, generated }) => ({ date, generated, after }))
  }).sort((a, b) => dueOf(a.date, a.after, time) - dueOf(b.date, b.after, time))
}

/** When the night after day +7 (+30) begins. */
function dueOf(date: Day, after: Followup, time: number): Instant {
  return startOf(addDays(date, after + 1)) + time
}

/** When the round began that is the newest at a time. */
export function roundOf(now: Instant, times: readonly number[]): Instant {
  const midnight = startOf(dayOf(now))
  const time = times.findLast((each) => midnight + each <= now)
  return time === undefined ? midnight - DAY + times.at(-1)! : midnight + time
}

/** When the next round begins. */
export function roundAfter(now: Instant, times: readonly number[]): Instant {
  const midnight = startOf(dayOf(now))
  const time = times.find((each) => midnight + each > now)
  return time === undefined ? midnight + DAY + times[0]! : midnight + time
}

/** The runs by job and date. */
class Book {
  readonly round: Instant
  readonly #runs = new Map<string, Run[]>()

  constructor(runs: readonly Run[], round: Instant) {
    this.round = round
    for (const run of runs) {
      const key = keyOf(run)
      const same = this.#runs.get(key)
      if (same === undefined) this.#runs.set(key, [run])
      else same.push(run)
    }
  }

  /** The newest run that went well and began at or after a time; null for none. */
  since(job: Job, date: Day | null, from: Instant): Run | null {
    const went = ({ began, ended, error }: Run): boolean => began >= from && ended !== null && error === null
    return this.#of({ job, date }).findLast(went) ?? null
  }

  /** From when on a step may be tried; null where it has failed too often in this round. */
  from(step: Step): Instant | null {
    const failures = this.#of(step).filter(
      ({ began, error }) => began >= this.round && error !== null && error !== STOPPED,
    )
    if (failures.length >= TRIES) return null
    const last = failures.at(-1)
    if (last === undefined) return 0
    const ended = last.error === DIED ? last.began : last.ended! // when it died nobody knows
    return ended + PAUSE * 2 ** (failures.length - 1)
  }

  #of(step: Step): readonly Run[] {
    return this.#runs.get(keyOf(step)) ?? []
  }
}

const keyOf = ({ job, date }: Step): string => `${job} ${date}`
