/** Reads the inputs of the job plan, and runs each of its steps with the matching builder. */

import type { Registrations } from '../registrations/registrations.ts'
import { RUN_RETENTION_SECONDS } from '../store/port/jobs.ts'
import type { Store } from '../store/port/store.ts'
import { isHistoryPruneIncomplete } from '../store/prune-history.ts'
import type { Day, Instant } from '../values/time.ts'
import { buildDaily, buildDropped } from './daily.ts'
import { FILE_KINDS, type FileKind, type FileManifest, type FileStore } from './file-store/file-store.ts'
import { buildFollowup, type FollowupDays, requestFollowupProbes } from './followup.ts'
import type { JobLock } from './job-lock.ts'
import type { JobStep, PlanInputs } from './job-plan.ts'
import type { StepOutcome } from './job-scheduler.ts'
import type { BuildContext } from './publish.ts'
import type { QualityBounds } from './quality-check.ts'

/** The dependencies of all jobs. */
export type JobDependencies = {
  store: Store
  fileStore: FileStore
  /** The source of the names of each day. */
  registrations: Pick<Registrations, 'days' | 'registered' | 'dropped'>
  /** Null: every day is published. */
  qualityBounds: QualityBounds | null
  /** Number of compression threads. */
  threads: number
  /** Imports the files in the inbox. */
  processInbox(run: BuildContext): Promise<StepOutcome>
  /** When to check the files again that it left in the inbox; null if it left none. */
  inboxRecheckAt(): Instant | null
  /** If set, builds wait while a disk has too little free space. */
  diskSpace?: BuildContext['diskSpace']
  /** Builds both snapshots. */
  buildSnapshots(run: BuildContext): Promise<StepOutcome>
  /** Removes what is older than the settings keep it. */
  prune(lock: JobLock): Promise<StepOutcome>
}

type StepOptions = Pick<BuildContext, 'onRows'>

/** Reads the inputs of the plan that do not come from the settings. */
export async function readPlanInputs({
  store,
  fileStore,
  registrations,
  inboxRecheckAt,
}: Pick<JobDependencies, 'store' | 'fileStore' | 'registrations' | 'inboxRecheckAt'>): Promise<
  Omit<PlanInputs, 'times' | 'followupWait'>
> {
  const now = await store.now()
  const days = await registrations.days()
  const crawlers = await store.schedule.crawlers()
  const requested = crawlers.length === 0 ? 0 : await store.crawlRequests.count('followup')
  const files = {} as Record<FileKind, FileManifest[]>
  for (const kind of FILE_KINDS) files[kind] = await fileStore.list(kind)
  return {
    now,
    days,
    files,
    releases: await store.ledger.releaseRequests(),
    runs: await store.jobs.runs(now - RUN_RETENTION_SECONDS),
    crawl: { isRunning: crawlers.length > 0, requested },
    inboxRecheckAt: inboxRecheckAt(),
    isPruneIncomplete: await isHistoryPruneIncomplete(store.maintenance),
  }
}

/** Runs one step. */
export async function runStep(
  dependencies: JobDependencies,
  { job, date, release }: JobStep,
  lock: JobLock,
  options: StepOptions,
): Promise<StepOutcome> {
  const { signal, requireHeld } = lock
  const { threads, diskSpace } = dependencies
  const run: BuildContext = { signal, requireLock: requireHeld, ...options, threads, diskSpace }
  if (job === 'prune') return dependencies.prune(lock) // also without free space, because it makes some
  await diskSpace?.wait(signal)
  switch (job) {
    case 'inbox':
      return dependencies.processInbox(run)
    case 'snapshot':
      return dependencies.buildSnapshots(run)
    case 'daily':
      return runDailyStep(dependencies, date!, run, release ?? false)
    case 'request-7':
    case 'request-30':
      return {
        rows: await requestFollowupProbes(
          date!,
          { fileStore: dependencies.fileStore, crawlRequests: dependencies.store.crawlRequests },
          run,
        ),
      }
    case 'followup-7':
    case 'followup-30':
      return runFollowupStep(dependencies, date!, job === 'followup-7' ? 7 : 30, run)
  }
}

async function runDailyStep(
  { store, fileStore, registrations, qualityBounds }: JobDependencies,
  day: Day,
  run: BuildContext,
  release: boolean,
): Promise<StepOutcome> {
  const build = { fileStore, observations: store.observations, now: await store.now() }
  await buildDropped(day, { ...build, names: registrations.dropped(day) }, run)
  const names = registrations.registered(day)
  const { manifest, isNew } = await buildDaily(day, { ...build, names, qualityBounds, release }, run)
  const { rows, held } = manifest
  if (held === null) await store.ledger.completeRelease(day)
  if (held !== null)
    return {
      rows,
      held: true,
      message: `${day} is held: ${held}. If the number is correct, run domaindex build daily --date ${day} --release`,
    }
  return { rows, message: isNew ? null : `${day} is unchanged` }
}

async function runFollowupStep(
  { store, fileStore }: JobDependencies,
  day: Day,
  after: FollowupDays,
  run: BuildContext,
): Promise<StepOutcome> {
  const { observations, crawlRequests } = store
  const { manifest } = await buildFollowup(
    day,
    after,
    { fileStore, observations, crawlRequests, now: await store.now() },
    run,
  )
  return { rows: manifest.rows, message: null }
}
