/**
 * `npm run bench:year`: 366 nights of an installation on a clock that the bench moves, from a day in the future to the
 * same day a year later, with a 29 February. Each day brings a list of registrations and observations, each night the due
 * jobs run, and every file that they build is compared with a model: daily files, follow-up files after 7 and 30 days,
 * snapshots, and what retention leaves.
 */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { readSettings, type Settings } from '../src/config/settings.ts'
import { type FileStore, fileName } from '../src/jobs/file-store/file-store.ts'
import { type JobScheduler, runDueJobs } from '../src/jobs/job-scheduler.ts'
import { type JobDependencies, readPlanInputs, runStep } from '../src/jobs/steps.ts'
import { parseObservation } from '../src/observe/observation-parser.ts'
import { markComplete } from '../src/registrations/inbox.ts'
import { createJobDependencies } from '../src/server/job-dependencies.ts'
import { ingest } from '../src/store/ingest.ts'
import { processHolderName } from '../src/store/named-lock.ts'
import { openStore } from '../src/store/open.ts'
import type { Store } from '../src/store/port/store.ts'
import type { DomainName } from '../src/values/domain-name.ts'
import { addDays, type Day, type Instant, parseDay, startOfDay } from '../src/values/time.ts'
import { site } from '../test/spec/observations.ts'
import { readOptions } from './measure/options.ts'
import { domaindexCommand, makeTemporaryFolder, runProcess, stopProcess } from './measure/process.ts'
import { type Metric, metric, metricWithMax, report } from './measure/report.ts'
import { bytesOfFolder } from './soak/samples.ts'
import { connectionConfig, startPostgresServer } from './world/postgres.ts'

const NIGHTS = 366
/** The jobs run ten minutes after the first time of the day at which they are due, 01:00. */
const SECONDS_AFTER_MIDNIGHT = 4_200
/** Names with a new address on each day. */
const MOVING_NAMES = 20
/** Of the registered names of a day, one in so many is deleted after DAYS_UNTIL_DELETED, and all move after DAYS_UNTIL_MOVED. */
const DELETED_SHARE = 5
const DAYS_UNTIL_DELETED = 20
const DAYS_UNTIL_MOVED = 3
const KEEP_HISTORY_DAYS = 100
const KEEP_FILES_DAYS = 120
/** Nights between two lines of progress. */
const PROGRESS_NIGHTS = 30
const MAX_PRINTED = 10
const HEADER =
  'domain,has_website,redirect_to_domain,redirect_target,mx,mail_servers,ssl,ip,social_networks,social_accounts'

const options = readOptions(50)
const metrics: Metric[] = []
const raw: Record<string, unknown> = {}

/** An installation on a clock of the bench. `problems`: what differs from the model. */
type Year = {
  settings: Settings
  store: Store
  works: JobDependencies
  clock: { now: Instant }
  first: Day
  problems: string[]
}

const moving = Array.from({ length: MOVING_NAMES }, (_, index) => `moving${index}.example`)
const registeredOn = (night: number): string[] =>
  Array.from({ length: options.names }, (_, index) => `r${night}-${index}.example`).sort()
const isDeleted = (position: number): boolean => position % DELETED_SHARE === 0

async function passYear(engine: 'SQLite' | 'PostgreSQL'): Promise<void> {
  const folder = makeTemporaryFolder()
  const postgres = engine === 'PostgreSQL' ? await startPostgresServer(folder) : null
  try {
    const url = postgres === null ? `sqlite:${join(folder, 'store.db')}` : await createDatabase(postgres.socket)
    const environment = environmentOf(folder, url)
    const year = await openYear(environment)
    const started = performance.now()
    const sizes: number[] = []
    for (let night = 0; night < NIGHTS; night++) {
      await passDay(year, night)
      sizes.push(bytesOfFolder(join(folder, 'files')))
      if (night % PROGRESS_NIGHTS === 0)
        console.error(`  ${engine}: night ${night} of ${NIGHTS}, ${year.problems.length} problems`)
    }
    const seconds = (performance.now() - started) / 1_000
    await checkHistories(year)
    await year.store.close()
    const checked = await runProcess(domaindexCommand('check'), { env: environment }, [0, 1])
    addMetrics(engine, year, { seconds, sizes, checked })
  } finally {
    if (postgres !== null) await stopProcess(postgres.running, 'SIGINT')
    rmSync(folder, { recursive: true, force: true })
  }
}

async function createDatabase(socket: string): Promise<string> {
  const client = new pg.Client({ ...connectionConfig(socket), database: 'postgres' })
  await client.connect()
  await client.query('create database year')
  await client.end()
  return `postgres://bench@localhost/year?host=${socket}`
}

function environmentOf(folder: string, store: string): Record<string, string> {
  return {
    DOMAINDEX_STORE: store,
    DOMAINDEX_FILES: join(folder, 'files'),
    DOMAINDEX_ZONES: join(folder, 'zones'),
    DOMAINDEX_INBOX: join(folder, 'inbox'),
    DOMAINDEX_KEEP_HISTORY: `${KEEP_HISTORY_DAYS}d`,
    DOMAINDEX_KEEP_FILES: `${KEEP_FILES_DAYS}d`,
    DOMAINDEX_SNAPSHOTS_KEPT: '2',
  }
}

/** The files that come into the inbox have times of the real clock, so the year begins after today. */
async function openYear(environment: Record<string, string>): Promise<Year> {
  const settings = readSettings(environment)
  const today = new Date()
  const leapYear = Math.ceil((today.getUTCFullYear() + 2) / 4) * 4
  const first = parseDay(`${leapYear - 1}-03-01`)!
  const clock = { now: startOfDay(first) }
  mkdirSync(settings.inbox, { recursive: true })
  const store = await openStore(settings.store, { access: 'write', ledger: 'own', secret: null, now: () => clock.now })
  const works = await createJobDependencies(settings, store, () => {})
  return { settings, store, works, clock, first, problems: [] }
}

/** The day's list and observations, and the night after it. */
async function passDay(year: Year, night: number): Promise<void> {
  const { settings, store, clock, first } = year
  const day = addDays(first, night)
  clock.now = startOfDay(day) + 43_200
  const observed = new Date(clock.now * 1_000).toISOString()
  const line = (domain: string, dns: object) => JSON.stringify({ domain, observed_at: observed, dns, web: SITE })
  const lines = [
    ...moving.map((name) => line(name, { status: 'ok', A: [addressOf(night)], AAAA: [], MX: [] })),
    ...registeredOn(night).map((name) => line(name, { status: 'ok', A: ['198.51.100.1'], AAAA: [], MX: MAIL })),
    ...earlier(night, DAYS_UNTIL_MOVED).map((name) => line(name, { status: 'ok', A: ['198.51.100.2'], AAAA: [] })),
    ...earlier(night, DAYS_UNTIL_DELETED)
      .filter((_, position) => isDeleted(position))
      .map((name) => JSON.stringify({ domain: name, observed_at: observed, dns: { status: 'nxdomain' } })),
  ]
  const outcomes = await ingest(
    store,
    lines.map((text) => {
      const observation = parseObservation(text)
      if (typeof observation === 'string') throw new Error(observation)
      return observation
    }),
  )
  const unapplied = outcomes.filter((outcome) => outcome !== 'applied').length
  if (unapplied > 0) year.problems.push(`${day}: ${unapplied} observations were not applied`)
  const path = join(settings.inbox, `.list`)
  writeFileSync(path, registeredOn(night).join('\n'))
  await markComplete(path)
  renameSync(path, join(settings.inbox, `all-${day}.names`))
  clock.now = startOfDay(addDays(day, 1)) + SECONDS_AFTER_MIDNIGHT
  await runNight(year)
  await checkNight(year, night)
}

const SITE = site({ ssl: 'valid' })
const MAIL = [{ priority: 10, mail_server: 'mx.example' }]

const addressOf = (night: number): string => `203.0.${113 + Math.floor(night / 250)}.${(night % 250) + 1}`
const earlier = (night: number, days: number): string[] => (night < days ? [] : registeredOn(night - days))

/** Locks are renewed by the real clock of a process, and a night of the bench is shorter than their time. */
function untilAborted(_: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

async function runNight({ store, works, settings, problems, clock }: Year): Promise<void> {
  const scheduler: JobScheduler = {
    store,
    holder: processHolderName(),
    clock: { monotonicMs: () => performance.now(), wait: untilAborted },
    readInputs: async () => ({
      ...(await readPlanInputs(works)),
      times: settings.jobTimes!,
      followupWait: settings.followupWait,
    }),
    async run(step, lock) {
      const outcome = await runStep(works, step, lock, { onRows: () => {} })
      clock.now++ // a file of the same second may be older than a change
      return outcome
    },
    events: {
      done: (step, { held }) => void (held && problems.push(`${step.job} ${step.date} is held back`)),
      failed: (step, error) => void problems.push(`${step?.job} ${step?.date} failed: ${(error as Error).message}`),
    },
  }
  await runDueJobs(scheduler, new AbortController().signal)
}

/** Compares the files that are due after a night with the model. */
async function checkNight({ works, problems, first }: Year, night: number): Promise<void> {
  const { fileStore } = works
  const expect = async (file: ReturnType<typeof fileName>, expected: readonly string[] | null) => {
    const lines = await linesOf(fileStore, file)
    if (lines?.join() !== expected?.join())
      problems.push(`${file}: ${lines?.length ?? 'no'} lines, expected ${expected?.length ?? 'no file'}`)
  }
  const dayOfNight = (number: number): Day => addDays(first, number)
  await expect(fileName('daily', dayOfNight(night)), registeredOn(night))
  for (const after of [7, 30] as const) {
    const registered = night - after
    const expected = registered < 0 ? null : [HEADER, ...followupRows(registered, after)]
    await expect(fileName(`followup-${after}`, dayOfNight(registered)), expected)
    if (night > 0) await expect(fileName(`followup-${after}`, dayOfNight(registered + 1)), null)
  }
  const oldest = night - KEEP_FILES_DAYS
  if (oldest > 0) await expect(fileName('daily', dayOfNight(oldest - 1)), null)
  const names = [...moving, ...Array.from({ length: night + 1 }, (_, index) => registeredOn(index)).flat()].sort()
  await expect(fileName('snapshot', dayOfNight(night + 1)), names)
}

/** What is known of the names of a night so many days later: all have moved then, and some are deleted. */
function followupRows(night: number, after: 7 | 30): string[] {
  return registeredOn(night).map((name, position) => {
    const ip = after > DAYS_UNTIL_DELETED && isDeleted(position) ? 'nxdomain' : 'v4only'
    return `${name},yes,no,,yes,mx.example,valid,${ip},,`
  })
}

async function linesOf(fileStore: FileStore, file: ReturnType<typeof fileName>): Promise<string[] | null> {
  const opened = await fileStore.open(file)
  if (opened === null) return null
  try {
    const bytes = await buffer(opened.read(0, opened.manifest.bytes))
    return gunzipSync(bytes).toString().trimEnd().split('\n')
  } finally {
    await opened.close()
  }
}

/** Retention leaves of each moving name the states that were replaced in the kept time, and the newest. */
async function checkHistories({ store, problems, first }: Year): Promise<void> {
  const kept = startOfDay(addDays(first, NIGHTS)) + SECONDS_AFTER_MIDNIGHT - KEEP_HISTORY_DAYS * 86_400
  const nights = Array.from({ length: NIGHTS }, (_, index) => NIGHTS - 1 - index)
  const expected = nights.filter(
    (night) => night === NIGHTS - 1 || startOfDay(addDays(first, night + 1)) + 43_200 >= kept,
  )
  for (const name of moving) {
    const { A } = (await store.facts.history(name as DomainName, ['A'], null, 1_000)).byType
    const shown = A.states.map(({ records }) => records)
    const wanted = expected.map((night) => JSON.stringify([{ ipv4_address: addressOf(night) }]))
    if (shown.join() !== wanted.join())
      problems.push(`${name}: ${shown.length} states, expected ${wanted.length}: ${shown.at(-1)}`)
  }
}

function addMetrics(
  engine: string,
  { problems }: Year,
  { seconds, sizes, checked }: { seconds: number; sizes: readonly number[]; checked: string },
): void {
  for (const problem of problems.slice(0, MAX_PRINTED)) console.log(`${engine}: ${problem}`)
  raw[engine] = { problems, sizes, checked: checked.slice(0, 5_000) }
  const grown = sizes.at(-1)! / sizes[Math.min(2 * KEEP_FILES_DAYS, NIGHTS - 1)]!
  metrics.push(
    metric(`${engine}: nights`, NIGHTS, ''),
    metric(`${engine}: seconds per night`, seconds / NIGHTS, 's'),
    metricWithMax(`${engine}: differences from the model`, problems.length, '', 0),
    metricWithMax(`${engine}: findings of check`, Number(/faults (\d+)/.exec(checked)?.[1] ?? Number.NaN), '', 0),
    metric(`${engine}: finished files at the end, as a factor of night ${2 * KEEP_FILES_DAYS}`, grown, ''),
  )
}

for (const engine of ['SQLite', 'PostgreSQL'] as const)
  if (options.only === null || options.only === engine) await passYear(engine)
report('year', metrics, [`${options.names} registrations a day`], raw)
process.exit()
