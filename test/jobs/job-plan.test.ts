/** The job plan: what is built when, in which order, and what is caught up after missed runs. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FILE_KINDS, type FileKind, type FileManifest, fileName } from '../../src/jobs/file-store/file-store.ts'
import {
  type JobStep,
  MAX_FOLLOWUP_DELAY_DAYS,
  type PlanInputs,
  planJobs,
  STOPPED_MESSAGE,
} from '../../src/jobs/job-plan.ts'
import type { Job, JobRun } from '../../src/store/port/jobs.ts'
import { addDays, type Day, dayOf, type Instant, parseInstant, startOfDay } from '../../src/values/time.ts'

const HOUR = 3600
const DAY = 86_400
const ONE = 1 * HOUR
const START = parseInstant('2026-11-20T01:00:00Z')!
const TODAY = '2026-11-20' as Day
const YESTERDAY = '2026-11-19' as Day

/** A simulated installation: a step completes one second later. */
class Paper {
  now: Instant = START
  times = [ONE]
  days = new Map<Day, Instant>()
  files = new Map<FileKind, Map<Day, FileManifest>>(FILE_KINDS.map((kind) => [kind, new Map()]))
  runs: JobRun[] = []
  crawl = { isRunning: false, requested: 0 }
  cutoff = 12 * HOUR
  inboxAgain: Instant | null = null
  held = new Set<Day>()
  failing = new Set<Job>()
  releases: Day[] = []
  /** Runs of prune until it is complete. */
  pruning = 0

  known(): PlanInputs {
    const files = Object.fromEntries([...this.files].map(([kind, files]) => [kind, [...files.values()]])) as never
    const days = [...this.days].map(([day, changed]) => ({ day, changed }))
    const { now, times, runs, crawl, cutoff, inboxAgain, releases } = this
    return {
      now,
      times,
      days,
      files,
      releases,
      runs,
      crawl,
      followupWait: cutoff,
      inboxRecheckAt: inboxAgain,
      isPruneIncomplete: this.pruning > 0,
    }
  }

  put(kind: FileKind, date: Day, generated = this.now): void {
    const held = this.held.has(date) ? 'held' : null
    this.files.get(kind)!.set(date, { name: fileName(kind, date), kind, date, generated, held } as FileManifest)
  }

  run({ job, date }: JobStep, given: Partial<JobRun> = {}): void {
    const times = { startedAt: this.now, endedAt: this.now + 1 }
    this.runs.push({ number: this.runs.length, job, date, holder: 'a', ...times, rows: 1, error: null, ...given })
  }

  /** Runs every due step and returns them. */
  act(): string[] {
    const done: string[] = []
    for (let { step } = planJobs(this.known()); step !== null; { step } = planJobs(this.known())) {
      const { job, date } = step
      done.push(`${job} ${date}`)
      assert.ok(done.length < 5_000, 'it comes to an end')
      if (this.failing.has(job)) this.run(step, { error: 'no' })
      else {
        this.run(step)
        if (job === 'daily' || job.startsWith('followup')) this.put(job as FileKind, date!)
        if (job === 'daily') this.put('dropped', date!)
        if (job === 'snapshot') for (const kind of ['snapshot', 'enriched'] as const) this.put(kind, date!)
        if (job.startsWith('request')) this.crawl.requested += 10
        if (job === 'prune') this.pruning = Math.max(0, this.pruning - 1)
      }
      this.now++
    }
    return done
  }

  /** The jobs without inbox, snapshot and prune. */
  made(): string[] {
    return this.act().filter((words) => !/^(inbox|snapshot|prune)/.test(words))
  }

  wait(): Instant {
    const { step, recheckAt: again } = planJobs(this.known())
    assert.equal(step, null)
    assert.ok(again > this.now, 'the time to look again is ahead')
    this.now = again
    return again
  }
}

test('a run imports the inbox, then builds yesterday’s file, the follow-ups and the snapshot, once', () => {
  const paper = new Paper()
  paper.days.set(YESTERDAY, START - 100)
  paper.days.set(TODAY, START - 50)
  for (const day of [addDays(TODAY, -8), addDays(TODAY, -31)]) paper.put('daily', day, startOfDay(addDays(day, 1)))
  paper.put('followup-7', addDays(TODAY, -31), START - 20 * DAY)
  assert.deepEqual(paper.act(), [
    'inbox null',
    'daily 2026-11-19',
    'followup-7 2026-11-12',
    'followup-30 2026-10-20',
    'snapshot 2026-11-20',
    'prune null',
  ])
  assert.deepEqual(paper.act(), [])
  paper.now = START + 12 * HOUR
  assert.deepEqual(paper.act(), [])
})

test('files that are lost are built again, although their runs succeeded', () => {
  const paper = new Paper()
  const day = addDays(TODAY, -8)
  for (const each of [YESTERDAY, day]) paper.days.set(each, START - 100)
  const all = ['daily 2026-11-12', 'daily 2026-11-19', 'followup-7 2026-11-12', 'snapshot 2026-11-20']
  assert.deepEqual(paper.act(), ['inbox null', ...all, 'prune null'])
  paper.files.get('enriched')!.clear()
  assert.ok(paper.wait() <= START + 700)
  assert.deepEqual(paper.act(), ['snapshot 2026-11-20'])
  for (const files of paper.files.values()) files.clear()
  paper.now += 700
  assert.deepEqual(paper.act(), all)
  assert.deepEqual(paper.act(), [])
})

test('a prune that is not complete continues, after whatever else is due', () => {
  const paper = new Paper()
  paper.act()
  paper.now = START + HOUR
  paper.pruning = 2
  assert.deepEqual(paper.act(), ['prune null', 'prune null'])
  paper.now = START + DAY
  paper.days.set(TODAY, START + HOUR)
  paper.pruning = 2
  assert.deepEqual(paper.act().slice(1), ['daily 2026-11-20', 'snapshot 2026-11-21', 'prune null', 'prune null'])
})

test('no job of a run starts before its time', () => {
  const paper = new Paper()
  paper.act()
  paper.days.set(TODAY, START + HOUR)
  paper.now = START + DAY - 1
  assert.deepEqual(paper.act(), [])
  assert.equal(paper.wait(), START + DAY)
  assert.deepEqual(paper.act(), ['inbox null', 'daily 2026-11-20', 'snapshot 2026-11-21', 'prune null'])
})

test('with several times a day, each run imports the inbox, and the first one builds the snapshot', () => {
  const paper = new Paper()
  paper.times = [ONE, 13 * HOUR]
  assert.deepEqual(paper.act(), ['inbox null', 'snapshot 2026-11-20', 'prune null'])
  paper.days.set(YESTERDAY, START + HOUR)
  assert.deepEqual(paper.act(), [], 'it waits for the next time')
  paper.now = START + 12 * HOUR
  assert.deepEqual(paper.act(), ['inbox null', 'daily 2026-11-19'])
})

test('files left in the inbox are checked again in the same run, and their days are built', () => {
  const paper = new Paper()
  paper.act()
  paper.inboxAgain = paper.now + 120
  assert.equal(paper.wait(), paper.inboxAgain)
  paper.days.set(YESTERDAY, paper.now)
  const again = paper.now
  assert.equal(planJobs(paper.known()).step?.job, 'inbox')
  paper.run({ job: 'inbox', date: null })
  paper.inboxAgain = null
  paper.now++
  assert.deepEqual(paper.act(), ['daily 2026-11-19'])
  paper.inboxAgain = again
  assert.deepEqual(paper.act(), [], 'once')
})

test('days from the inbox are built in the same run, and later ones in the next', () => {
  const paper = new Paper()
  paper.run({ job: 'inbox', date: null }, { endedAt: START + 2 * HOUR })
  paper.now = START + 2 * HOUR
  paper.days.set(YESTERDAY, START + 2 * HOUR - 1)
  assert.deepEqual(paper.made(), ['daily 2026-11-19'])
  paper.days.set(YESTERDAY, START + 5 * HOUR)
  paper.now = START + 6 * HOUR
  assert.deepEqual(paper.made(), [])
  paper.now = START + DAY
  assert.deepEqual(paper.made(), ['daily 2026-11-19'])
})

test('a day that changes in this very second is built in the next one, and once', () => {
  const paper = new Paper()
  paper.act()
  paper.now = START + DAY
  for (const job of ['inbox', 'prune'] as const) paper.run({ job, date: null })
  for (const kind of ['snapshot', 'enriched'] as const) paper.put(kind, addDays(TODAY, 1))
  paper.days.set(TODAY, paper.now)
  assert.deepEqual(paper.act(), [])
  assert.equal(paper.wait(), START + DAY + 1)
  assert.deepEqual(paper.act(), ['daily 2026-11-20'])
})

test('a day that was rebuilt without a change is not built again', () => {
  const paper = new Paper()
  paper.days.set(YESTERDAY, START - 100)
  paper.put('daily', YESTERDAY, START - 5 * DAY)
  paper.run({ job: 'daily', date: YESTERDAY }, { startedAt: START - 99, endedAt: START - 98 })
  assert.deepEqual(paper.made(), [])
})

test('missed runs are caught up, the oldest day first', () => {
  const paper = new Paper()
  const days = Array.from({ length: 40 }, (_, n) => addDays(TODAY, n - 40))
  for (const day of days.toReversed()) paper.days.set(day, startOfDay(day) + 80_000)
  const made = paper.made()
  assert.deepEqual(
    made.slice(0, 40),
    days.map((day) => `daily ${day}`),
  )
  const followups = made.slice(40)
  assert.equal(followups.filter((words) => words.startsWith('followup-7')).length, 33)
  assert.equal(followups.filter((words) => words.startsWith('followup-30')).length, 10)
})

test('follow-ups that are at least 35 days late are not built', () => {
  const paper = new Paper()
  const late = addDays(TODAY, -8 - MAX_FOLLOWUP_DELAY_DAYS)
  for (const day of [late, addDays(late, 1)]) paper.put('daily', day, startOfDay(addDays(day, 1)))
  assert.deepEqual(
    paper.made().filter((words) => words.startsWith('followup-7')),
    [`followup-7 ${addDays(late, 1)}`],
  )
})

test('a follow-up is built from the night after day +7 and day +30 on', () => {
  for (const [after, kind] of [
    [7, 'followup-7'],
    [30, 'followup-30'],
  ] as const) {
    const paper = new Paper()
    paper.put('daily', YESTERDAY)
    paper.now = startOfDay(YESTERDAY) + (after + 1) * DAY + ONE - 100
    assert.ok(!paper.made().some((words) => words.startsWith(kind)))
    paper.now = startOfDay(YESTERDAY) + (after + 1) * DAY + ONE
    assert.ok(paper.made().includes(`${kind} ${YESTERDAY}`))
  }
})

test('a follow-up is due from its very second on, until 35 days have passed, and a file of the second of its day stays', () => {
  const day = addDays(TODAY, -8)
  const nextStep = (now: Instant, change: (paper: Paper) => void = () => {}): string | null => {
    const paper = new Paper()
    paper.now = now
    paper.put('daily', day, startOfDay(addDays(day, 1)))
    for (const job of ['inbox', 'prune'] as const) paper.run({ job, date: null })
    for (const kind of ['snapshot', 'enriched'] as const) paper.put(kind, dayOf(now))
    for (const kind of ['followup-7', 'followup-30'] as const) paper.put(kind, day, startOfDay(addDays(day, 1)))
    change(paper)
    const { step } = planJobs(paper.known())
    return step && `${step.job} ${step.date}`
  }
  const withoutFile = (paper: Paper) => void paper.files.get('followup-7')!.delete(day)
  assert.equal(nextStep(START), null, 'the file is as old as its day')
  assert.equal(
    nextStep(START, (paper) => paper.put('followup-7', day, 0)),
    `followup-7 ${day}`,
  )
  assert.equal(nextStep(START - 1, withoutFile), null)
  assert.equal(nextStep(START, withoutFile), `followup-7 ${day}`)
  const end = START + MAX_FOLLOWUP_DELAY_DAYS * DAY
  assert.equal(nextStep(end - 1, withoutFile), `followup-7 ${day}`)
  assert.equal(nextStep(end, withoutFile), null)
  const crawled = (paper: Paper) => {
    withoutFile(paper)
    paper.crawl = { isRunning: true, requested: 1 }
  }
  assert.equal(nextStep(START + DAY - 1, crawled), `request-7 ${day}`)
  assert.equal(nextStep(START + DAY, crawled), `followup-7 ${day}`, 'a day late, it does not wait')
  const requested = (seconds: number) => (paper: Paper) => {
    crawled(paper)
    paper.run({ job: 'request-7', date: day }, { startedAt: START, endedAt: START + 1 })
    paper.now = START + 1 + paper.cutoff + seconds
  }
  assert.equal(nextStep(START, requested(-1)), null)
  assert.equal(nextStep(START, requested(0)), `followup-7 ${day}`)
})

test('a source whose clock is up to 300 seconds ahead has its day built in the same run', () => {
  for (const [ahead, made] of [
    [300, ['daily 2026-11-19']],
    [301, []],
  ] as const) {
    const paper = new Paper()
    paper.run({ job: 'inbox', date: null }, { startedAt: START, endedAt: START })
    paper.days.set(YESTERDAY, START + ahead)
    paper.now = START + 400
    assert.deepEqual(paper.made(), made)
  }
})

test('with a crawler, names are requested first, and the file waits until all were probed', () => {
  const paper = new Paper()
  const day = addDays(TODAY, -8)
  paper.put('daily', day, startOfDay(addDays(day, 1)))
  paper.crawl.isRunning = true
  assert.deepEqual(paper.made(), [`request-7 ${day}`])
  assert.ok(paper.wait() <= START + 120, 'it looks again soon')
  assert.deepEqual(paper.made(), [])
  paper.crawl.requested = 0
  assert.deepEqual(paper.made(), [`followup-7 ${day}`])
})

test('at the deadline the file is written from the stored facts, and at once if no crawler is alive', () => {
  for (const ends of [true, false]) {
    const paper = new Paper()
    const day = addDays(TODAY, -8)
    paper.put('daily', day, startOfDay(addDays(day, 1)))
    paper.crawl.isRunning = true
    assert.deepEqual(paper.made(), [`request-7 ${day}`])
    if (ends) paper.crawl.isRunning = false
    else {
      paper.now = START + 12 * HOUR
      assert.deepEqual(paper.made(), [])
      paper.now = START + 12 * HOUR + 60
    }
    assert.deepEqual(paper.made(), [`followup-7 ${day}`])
  }
})

test('a follow-up that is at least a day late does not wait for the crawler, so a long outage causes no flood', () => {
  const paper = new Paper()
  for (let days = 8; days < 30; days++) paper.put('daily', addDays(TODAY, -days), startOfDay(addDays(TODAY, 1 - days)))
  paper.crawl.isRunning = true
  const made = paper.made()
  assert.deepEqual(made.at(-1), `request-7 ${addDays(TODAY, -8)}`)
  assert.equal(made.filter((words) => words.startsWith('followup-7')).length, 21)
})

test('a snapshot does not wait for the crawler', () => {
  const paper = new Paper()
  paper.put('daily', addDays(TODAY, -8), START - 7 * DAY)
  paper.crawl.isRunning = true
  assert.deepEqual(paper.act().slice(-2), ['snapshot 2026-11-20', 'prune null'])
})

test('a held day has no follow-up before its release, and a rebuilt day has a new one', () => {
  const paper = new Paper()
  const day = addDays(TODAY, -8)
  paper.held.add(day)
  paper.put('daily', day, startOfDay(addDays(day, 1)))
  assert.deepEqual(paper.made(), [])
  paper.held.clear()
  paper.put('daily', day, paper.now)
  paper.now += 10
  assert.deepEqual(paper.made(), [`followup-7 ${day}`])
  paper.put('daily', day, paper.now)
  paper.now += 10
  assert.deepEqual(paper.made(), [`followup-7 ${day}`])
})

test('a held day is built again soon after its release, and only then', () => {
  const paper = new Paper()
  paper.held.add(YESTERDAY)
  paper.put('daily', YESTERDAY, START - 50)
  paper.act()
  assert.equal(paper.wait(), paper.now, 'it looks again')
  const start = paper.now
  assert.ok(paper.wait() - start <= 30)
  paper.releases = [YESTERDAY, addDays(TODAY, -9)]
  paper.held.clear()
  const { step } = planJobs(paper.known())
  assert.deepEqual(step, { job: 'daily', date: YESTERDAY, release: true })
  assert.deepEqual(paper.made(), ['daily 2026-11-19'])
})

test('a step that fails is tried three times per run and does not delay others', () => {
  const paper = new Paper()
  paper.days.set(YESTERDAY, START - 100)
  paper.failing.add('inbox')
  assert.deepEqual(paper.act(), ['inbox null', 'daily 2026-11-19', 'snapshot 2026-11-20', 'prune null'])
  assert.equal(paper.wait(), START + 301)
  assert.deepEqual(paper.act(), ['inbox null'])
  paper.wait()
  assert.deepEqual(paper.act(), ['inbox null'])
  paper.now = START + 12 * HOUR
  assert.deepEqual(paper.act(), [])
  paper.now = START + DAY
  assert.ok(paper.act().includes('inbox null'))
})

test('a run that was stopped in order is not a failure, and starts again at once', () => {
  const paper = new Paper()
  for (let n = 0; n < 5; n++) paper.run({ job: 'inbox', date: null }, { error: STOPPED_MESSAGE })
  assert.equal(paper.act()[0], 'inbox null')
})

test('whatever runs are missed and whatever changes, every day is finally built after its last change', () => {
  const event = fc.record({
    hours: fc.integer({ min: 0, max: 60 }),
    day: fc.integer({ min: 1, max: 40 }),
    crawls: fc.boolean(),
    visits: fc.boolean(),
  })
  const property = fc.property(fc.array(event, { maxLength: 30 }), (events) => {
    const paper = new Paper()
    for (const { hours, day, crawls, visits } of events) {
      paper.days.set(addDays(dayOf(paper.now), -day), paper.now)
      paper.crawl.isRunning = crawls
      paper.act()
      if (visits) paper.crawl.requested = 0
      paper.now += hours * HOUR
    }
    paper.crawl.isRunning = false
    paper.now += 2 * DAY
    paper.act()
    for (const [day, changed] of paper.days) {
      const made = paper.files.get('daily')!.get(day)
      assert.ok(made !== undefined && made.generated > changed, day)
    }
    for (const { job, date, startedAt: began } of paper.runs)
      if (job === 'daily') assert.ok(began >= startOfDay(addDays(date!, 1)) + ONE, 'no day is made before its night')
  })
  fc.assert(property, { numRuns: 100 })
})
