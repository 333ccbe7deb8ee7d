/** `domaindex jobs`: what the nights have done of late, what they do next, and which days are held back. */

import type { Command } from 'commander'
import { readPlanInputs } from '../jobs/steps.ts'
import { type JobPlan, planJobs, type JobStep } from '../jobs/job-plan.ts'
import type { FileManifest } from '../jobs/file-store/file-store.ts'
import type { LockName, LockHolder, JobRun } from '../store/port/jobs.ts'
import { formatInstant, type Instant } from '../values/time.ts'
import { loadExistingStoreSettings, withExistingStore } from './program/existing-store.ts'
import { createJobDependencies } from '../server/job-dependencies.ts'

/** Runs that are shown. */
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
    .option('--json', 'print one JSON object: now, holders, held, next, runs (times in Unix seconds)')
    .addHelpText(
      'after',
      '\nTimes are UTC. A day that is held back goes out by domaindex build daily --date DAY --release.',
    )
    .action(async ({ json = false }: { json?: boolean }) => {
      const report = await readJobsReport()
      console.log(json ? jobsReportJson(report) : jobsReportLines(report).join('\n'))
    })
}

async function readJobsReport(): Promise<JobsReport> {
  const settings = await loadExistingStoreSettings()
  const { jobTimes: times, followupWait: cutoff } = settings
  return withExistingStore('read', async (store) => {
    const known = await readPlanInputs(createJobDependencies(settings, store, () => {}))
    return {
      now: known.now,
      locks: await store.jobs.lockHolders(),
      held: known.files.daily.filter(({ held }) => held !== null),
      plan: times === null ? null : planJobs({ ...known, times, followupWait: cutoff }),
      runs: known.runs.slice(-SHOWN_RUNS).toReversed(),
    }
  })
}

function jobsReportJson({ now, locks, held, plan, runs }: JobsReport): string {
  const next = plan && { job: plan.step?.job ?? null, date: plan.step?.date ?? null, at: plan.recheckAt }
  const days = held.map(({ date, rows, ratio, held }) => ({ date, rows, ratio, held }))
  return JSON.stringify({ now, holders: locks, held: days, next, runs })
}

function jobsReportLines({ locks, held, plan, runs }: JobsReport): string[] {
  const who = (sought: LockName): string | undefined => locks.find(({ name }) => name === sought)?.holder
  const atWork = locks.filter(({ name }) => name !== 'night' && name !== 'index')
  return [
    `nights are run by: ${who('night') ?? 'nobody (domaindex serve runs them)'}`,
    `the index of /similar is kept by: ${who('index') ?? 'nobody (domaindex serve keeps it)'}`,
    ...atWork.map(({ name, holder }) => `at work: ${name}, ${holder}`),
    `next: ${plan === null ? 'nothing, DOMAINDEX_NIGHT is off' : nextStepText(plan)}`,
    ...held.map(({ date, held }) => `held back: ${date}, ${held}`),
    ...(runs.length === 0 ? ['nothing has run yet'] : ['', ...runsTable(runs)]),
  ]
}

function nextStepText({ step, recheckAt: again }: JobPlan): string {
  return step === null ? `nothing before ${instantText(again)}` : `${stepText(step)}, now`
}

const stepText = ({ job, date }: JobStep): string => (date === null ? job : `${job} of ${date}`)
const instantText = (instant: Instant): string => formatInstant(instant).replace('T', ' ')

function runsTable(runs: readonly JobRun[]): string[] {
  const rows = runs.map(({ job, date, startedAt: began, endedAt: ended, rows, error }) => [
    job,
    date ?? '',
    instantText(began),
    ended === null ? 'under way' : `${ended - began} s`,
    rows === null ? '' : rows.toLocaleString('en-US'),
    error ?? '',
  ])
  const table = [['job', 'date', 'began', 'took', 'rows', 'error'], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}
