/** `domaindex jobs`, `index` and `claim`: the jobs of an installation, its indexes, and its places for files. */

import type { Command } from 'commander'
import { CommandFault } from '../../config/command-fault.ts'
import { loadSettings, SETTINGS } from '../../config/settings.ts'
import { type InverseIndexProgress, maintainInverseOnce } from '../../inverse/maintainer.ts'
import type { FileManifest } from '../../jobs/file-store/file-store.ts'
import { type JobPlan, type JobStep, planJobs } from '../../jobs/job-plan.ts'
import { readPlanInputs } from '../../jobs/steps.ts'
import { diskSpaceOf, printDiskSpace } from '../../server/disk-space.ts'
import { createJobDependencies } from '../../server/job-dependencies.ts'
import { claimPlaces } from '../../server/places/check.ts'
import { placesOf } from '../../server/places/place.ts'
import { SYSTEM_CLOCK } from '../../server/system-clock.ts'
import { indexOnce } from '../../similar/index/run-indexer.ts'
import type { IndexProgress } from '../../similar/index/similar-indexer.ts'
import { processHolderName } from '../../store/named-lock.ts'
import type { JobRun, LockHolder, LockName } from '../../store/port/jobs.ts'
import type { Store } from '../../store/port/store.ts'
import { formatInstant, type Instant } from '../../values/time.ts'
import { loadExistingStoreSettings, withExistingStore } from '../program/existing-store.ts'
import { alignedColumns, listenForStop, printResult, startProgress } from '../program/output.ts'

const CLAIM_HELP = `
Every place where the installation keeps files has a mark. A server whose place has another mark, or
none, is not ready. Run this command on one server if a place was lost, or replaced by another one.
The next jobs build the files that are missing. A server that still uses the former place is not
ready from then on.`

const INDEX_HELP = `
domaindex serve maintains the /similar index and the inverse index (DOMAINDEX_INDEX). This command
does it once, for a store without a running server: it adds new start pages to the /similar index. It
adds names that are older than the inverse index to that one, and merges its parts. The store may be
in use. Ctrl-C stops it; run it again to continue.

Exit codes: 0 both are complete, 1 it failed, or another process maintains the indexes.`

/** Number of runs shown. */
const SHOWN_RUNS = 20

type HeldDay = Pick<FileManifest, 'date' | 'rows' | 'ratio' | 'held'>
type JobsReport = {
  now: Instant
  locks: readonly LockHolder[]
  held: readonly HeldDay[]
  plan: JobPlan | null
  runs: readonly JobRun[]
}

export function defineJobs(command: Command): void {
  command
    .option('--json', 'print one JSON object: now, locks, held, next, runs (times in Unix seconds)')
    .addHelpText('after', '\nTimes are UTC. To publish a held day, run domaindex build daily --date DAY --release.')
    .action(async ({ json = false }: { json?: boolean }) => {
      const report = await readJobsReport()
      console.log(json ? jobsReportJson(report) : jobsReportLines(report).join('\n'))
    })
}

async function readJobsReport(): Promise<JobsReport> {
  const settings = await loadExistingStoreSettings()
  const { jobTimes, followupWait } = settings
  return withExistingStore('read', async (store) => {
    const known = await readPlanInputs(await createJobDependencies(settings, store, () => {}))
    return {
      now: known.now,
      locks: await store.jobs.lockHolders(),
      held: known.files.daily.filter(({ held }) => held !== null),
      plan: jobTimes === null ? null : planJobs({ ...known, times: jobTimes, followupWait }),
      runs: known.runs.slice(-SHOWN_RUNS).toReversed(),
    }
  })
}

function jobsReportJson({ now, locks, held, plan, runs }: JobsReport): string {
  const next = plan && { job: plan.step?.job ?? null, date: plan.step?.date ?? null, at: plan.recheckAt }
  const days = held.map(({ date, rows, ratio, held }) => ({ date, rows, ratio, held }))
  return JSON.stringify({ now, locks, held: days, next, runs })
}

function jobsReportLines({ locks, held, plan, runs }: JobsReport): string[] {
  const holderOf = (lockName: LockName): string | undefined => locks.find(({ name }) => name === lockName)?.holder
  const runningJobs = locks.filter(({ name }) => name !== 'scheduler' && name !== 'index' && name !== 'inverse')
  return [
    `job scheduler runs in: ${holderOf('scheduler') ?? 'no process (domaindex serve runs it)'}`,
    `the /similar index is maintained by: ${holderOf('index') ?? 'no process (domaindex serve maintains it)'}`,
    `the inverse index is maintained by: ${holderOf('inverse') ?? 'no process (domaindex serve maintains it)'}`,
    ...runningJobs.map(({ name, holder }) => `running: ${name}, ${holder}`),
    `next: ${plan === null ? 'nothing, because DOMAINDEX_JOB_TIMES is off' : nextStepText(plan)}`,
    ...held.map(({ date, held }) => `held: ${date}, ${held}`),
    ...(runs.length === 0 ? ['no job has run yet'] : ['', ...runsTable(runs)]),
  ]
}

function nextStepText({ step, recheckAt }: JobPlan): string {
  return step === null ? `nothing before ${instantText(recheckAt)}` : `${stepText(step)}, now`
}

const stepText = ({ job, date }: JobStep): string => (date === null ? job : `${job} of ${date}`)
const instantText = (instant: Instant): string => formatInstant(instant).replace('T', ' ')

function runsTable(runs: readonly JobRun[]): string[] {
  const rows = runs.map(({ job, date, startedAt, endedAt, rows, error }) => [
    job,
    date ?? '',
    instantText(startedAt),
    endedAt === null ? 'running' : `${endedAt - startedAt} s`,
    rows === null ? '' : rows.toLocaleString('en-US'),
    error ?? '',
  ])
  return alignedColumns([['job', 'date', 'started', 'took', 'rows', 'error'], ...rows])
}

/** `domaindex index`: updates the indexes once, if no server maintains them. */
export function defineIndex(command: Command): void {
  command
    .option('--json', 'print one JSON object: pages, documents, runs (of the inverse index), stopped')
    .addHelpText('after', INDEX_HELP)
    .action(({ json }: { json?: true }) => withExistingStore('write', (store) => updateIndexes(store, json)))
}

async function updateIndexes(store: Store, json: true | undefined): Promise<void> {
  const diskSpace = diskSpaceOf(
    loadSettings(() => {}),
    [],
    printDiskSpace,
  )
  const stop = listenForStop()
  const progress = startProgress('pages')
  const reporter = {
    progress: ({ indexed, documents }: IndexProgress) =>
      progress.show(indexed, null, { more: `${documents} documents` }),
  }
  const inverseReporter = {
    progress: ({ share, blocks }: InverseIndexProgress) =>
      progress.show(null, share, { more: `${blocks} blocks of the inverse index merged` }),
  }
  const run = { store, holder: processHolderName(), clock: SYSTEM_CLOCK, diskSpace }
  try {
    const done = await indexOnce({ ...run, reporter }, stop.signal)
    const seconds = progress.seconds()
    const merged = done && (await maintainInverseOnce({ ...run, reporter: inverseReporter }, stop.signal))
    progress.end()
    if (done === null || merged === null) throw new CommandFault(await lockTakenMessage(store))
    const object = { pages: done.indexed, documents: done.documents, runs: merged.runs, stopped: stop.signal.aborted }
    printResult(json, object, [indexSummary(done, seconds), `merged the inverse index into ${merged.runs} runs`])
    if (stop.signal.aborted) console.error('stopped before the end; run it again to continue')
  } catch (error) {
    if (!stop.signal.aborted) throw error
    console.error('stopped while it waited for disk space; run it again to continue')
  } finally {
    progress.end()
    stop.end()
  }
}

async function lockTakenMessage({ jobs }: Store): Promise<string> {
  const holder = (await jobs.lockHolders()).find(({ name }) => name === 'index' || name === 'inverse')?.holder
  const process = holder === undefined ? 'another process' : `another process (${holder})`
  return `${process} maintains the indexes, usually domaindex serve: this command has nothing to do`
}

function indexSummary({ indexed, documents }: IndexProgress, seconds: number): string {
  const rate = Math.round(seconds > 0 ? indexed / seconds : 0)
  return `indexed ${indexed} pages, ${documents} documents (${seconds.toFixed(1)} s, ${rate} pages/s)`
}

/** `domaindex claim`: makes the places that the settings name those of the installation. */
export function defineClaim(command: Command): void {
  command
    .option('--json', 'print one JSON object: places, each with name and location')
    .addHelpText('after', CLAIM_HELP)
    .action(async ({ json }: { json?: true }) => {
      const places = await placesOf(await loadExistingStoreSettings())
      await withExistingStore('read', (store) => claimPlaces(places, store))
      const claimed = places.map(({ name, location }) => ({ name, location }))
      printResult(
        json,
        { places: claimed },
        claimed.map(({ name, location }) => `${SETTINGS[name].name} (${location}) belongs to this installation`),
      )
    })
}
