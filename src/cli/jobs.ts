/** `domaindex jobs`: shows the recent job runs, the next job and the held days. */

import type { Command } from 'commander'
import type { FileManifest } from '../jobs/file-store/file-store.ts'
import { type JobPlan, type JobStep, planJobs } from '../jobs/job-plan.ts'
import { readPlanInputs } from '../jobs/steps.ts'
import { createJobDependencies } from '../server/job-dependencies.ts'
import type { JobRun, LockHolder, LockName } from '../store/port/jobs.ts'
import { formatInstant, type Instant } from '../values/time.ts'
import { loadExistingStoreSettings, withExistingStore } from './program/existing-store.ts'

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
  const runningJobs = locks.filter(({ name }) => name !== 'scheduler' && name !== 'index')
  return [
    `job scheduler runs in: ${holderOf('scheduler') ?? 'no process (domaindex serve runs it)'}`,
    `the /similar index is maintained by: ${holderOf('index') ?? 'no process (domaindex serve maintains it)'}`,
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
  const table = [['job', 'date', 'started', 'took', 'rows', 'error'], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}
