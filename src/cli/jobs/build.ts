/** `domaindex build`: builds files manually, as the job scheduler builds them. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { CommandFault, PARTLY_DONE } from '../../config/command-fault.ts'
import type { Settings } from '../../config/settings.ts'
import { BuildFault } from '../../jobs/file-store/build-fault.ts'
import { type FileManifest, fileName } from '../../jobs/file-store/file-store.ts'
import { fileFolders } from '../../jobs/file-store/location.ts'
import { openFileStore } from '../../jobs/file-store/open.ts'
import { FOLLOWUPS, type FollowupDays } from '../../jobs/followup.ts'
import { packingThreads } from '../../jobs/gzip/gzip.ts'
import { type JobLock, withJobLock } from '../../jobs/job-lock.ts'
import type { JobStep } from '../../jobs/job-plan.ts'
import { LOCK_OF_JOB, type StepOutcome } from '../../jobs/job-scheduler.ts'
import { buildSnapshots, type SnapshotBuild } from '../../jobs/snapshot.ts'
import { type JobDependencies, runStep } from '../../jobs/steps.ts'
import { diskSpaceOf, printDiskSpace } from '../../server/disk-space.ts'
import { createJobDependencies } from '../../server/job-dependencies.ts'
import { withoutOptedOutNames } from '../../server/opted-out-names.ts'
import { requireOwnPlaces } from '../../server/places/check.ts'
import { filePlace, zonesPlace } from '../../server/places/place.ts'
import { SYSTEM_CLOCK } from '../../server/system-clock.ts'
import { processHolderName } from '../../store/named-lock.ts'
import type { Store } from '../../store/port/store.ts'
import { addDays, type Day, dayOf } from '../../values/time.ts'
import { parseDayArgument } from '../program/arguments.ts'
import { loadExistingStoreSettings, withExistingStore } from '../program/existing-store.ts'
import { listenForStop, printResult, startProgress } from '../program/output.ts'

const BUILD_SNAPSHOT_HELP = `
This builds the list of all known names and the edition with columns, from the names known at the
start. The store may be in use. DOMAINDEX_FILES keeps the newest DOMAINDEX_SNAPSHOTS_KEPT files of
each edition.

Exit codes: 0 both are built, 1 they are not built, and the previous files are unchanged.`

type OnSnapshotStep = NonNullable<SnapshotBuild['onStep']>

const PROGRESS_UNITS: Readonly<Record<Parameters<OnSnapshotStep>[0], string>> = {
  names: 'new names sorted',
  snapshot: 'names',
  facts: 'facts sorted',
  enriched: 'rows',
}

const BUILD_DAILY_HELP = `
A day with far fewer or far more names than earlier days of the same weekday is held
(DOMAINDEX_DAILY_BOUNDS, DOMAINDEX_DAILY_MIN_DIFFERENCE): its file is built but not available for
download. Check where its names come from. If they are correct, publish the file with --release.

Exit codes: 0 the file is published, 1 it could not be built, 2 wrong usage, 3 it is held.`

const BUILD_FOLLOWUP_HELP = `
Without --date, this builds the follow-up files that are due today. It does not request probes and
does not wait for the crawler: the rows contain the current facts.

Exit codes: 0 the files are published, 1 they could not be built.`

/** A built file, and a note to print below it. */
type BuiltFile = { manifest: FileManifest; note: string | null }
type BuildRequest = { dependencies: JobDependencies; step: JobStep }

export function defineBuild(command: Command): void {
  defineBuildDaily(command)
  defineBuildFollowup(command)
  defineBuildSnapshot(command)
}

/**
 * Returns null if a signal stopped the step. Throws CommandFault if another process runs it, or if it cannot be done.
 */
async function runStepManually<Result extends StepOutcome>(
  { jobs }: Pick<Store, 'jobs'>,
  step: JobStep,
  work: (lock: JobLock) => Promise<Result>,
): Promise<Result | null> {
  const stop = listenForStop()
  const lockName = LOCK_OF_JOB[step.job]
  try {
    const owner = { jobs, holder: processHolderName(), clock: SYSTEM_CLOCK }
    const done = await withJobLock(lockName, owner, stop.signal, (lock) => lock.record(step, () => work(lock)))
    if (done !== null) return done.result
    const holder = (await jobs.lockHolders()).find((each) => each.name === lockName)?.holder ?? 'another process'
    throw new CommandFault(`${holder} is building this now: wait until it has finished (domaindex jobs)`)
  } catch (error) {
    if (error instanceof BuildFault) throw new CommandFault(error.message)
    if (!stop.signal.aborted) throw error
    console.error('stopped; the previous files are unchanged')
    process.exitCode = 1
    return null
  } finally {
    stop.end()
  }
}

/** `domaindex build daily` and `domaindex build followup`: build the files of a day manually. */
function defineBuildDaily(command: Command): void {
  command
    .command('daily')
    .description('build the file of the names registered on a day')
    .option('--date <day>', 'the day of registration (default: yesterday, UTC)', parseDayArgument)
    .option('--release', 'publish the file even if its number of names is out of bounds')
    .option('--json', 'print one JSON object: files, each with its manifest')
    .addHelpText('after', BUILD_DAILY_HELP)
    .action(({ date = null, release, json }: { date?: Day | null; release?: true; json?: true }) =>
      withJobDependencies(json, async (dependencies, today) => {
        const day = date ?? addDays(today, -1)
        if (day >= today) throw new CommandFault(`${day} has not ended yet: today is ${today} (UTC)`)
        const isKnown = (await dependencies.registrations.days()).some((each) => each.day === day)
        if (!isKnown)
          throw new CommandFault(
            `there are no registrations of ${day}: import a zone or a list of that day first (DOMAINDEX_ZONES)`,
          )
        return [await buildFile({ dependencies, step: { job: 'daily', date: day, ...(release && { release }) } })]
      }),
    )
}

function defineBuildFollowup(command: Command): void {
  command
    .command('followup')
    .description('build the files of the names registered 7 and 30 days earlier, with their current facts')
    .option('--date <day>', 'the day of registration', parseDayArgument)
    .addOption(
      new Option('--after <days>', 'only the files after this number of days (default: both that are due)')
        .choices(FOLLOWUPS.map(String))
        .argParser(parseFollowupDays),
    )
    .option('--json', 'print one JSON object: files, each with its manifest')
    .addHelpText('after', BUILD_FOLLOWUP_HELP)
    .action(({ date = null, after = null, json }: { date?: Day | null; after?: FollowupDays | null; json?: true }) =>
      withJobDependencies(json, async (dependencies, today) => {
        const built: (BuiltFile | null)[] = []
        for (const step of await dueFollowupSteps(dependencies, today, date, after))
          built.push(await buildFile({ dependencies, step }))
        return built
      }),
    )
}

/** Returns the follow-ups that are due, of one day or as of today. Throws CommandFault if there are none. */
async function dueFollowupSteps(
  { fileStore }: JobDependencies,
  today: Day,
  date: Day | null,
  only: FollowupDays | null,
): Promise<JobStep[]> {
  const steps: JobStep[] = []
  for (const after of FOLLOWUPS) {
    if (only !== null && after !== only) continue
    const day = date ?? addDays(today, -after - 1)
    const isDue = addDays(day, after) < today
    if (date !== null && !isDue && only !== null)
      throw new CommandFault(`day +${after} of ${day} is ${addDays(day, after)}, and today is ${today} (UTC)`)
    const hasDailyFile = date !== null || (await fileStore.manifest(fileName('daily', day))) !== null
    if (isDue && hasDailyFile) steps.push({ job: `followup-${after}`, date: day })
  }
  if (steps.length > 0) return steps
  throw new CommandFault(
    date === null
      ? 'no follow-up of a day with a daily file is due today: name a day with --date'
      : `no follow-up of ${date} is due yet`,
  )
}

/**
 * Prints the files that `work` built. Null stands for a file that was not built because a signal stopped the command.
 */
async function withJobDependencies(
  json: true | undefined,
  work: (dependencies: JobDependencies, today: Day) => Promise<(BuiltFile | null)[]>,
): Promise<void> {
  const settings = await loadExistingStoreSettings()
  await withExistingStore('write', async (opened) => {
    const store = withoutOptedOutNames(opened, settings, (message) => console.error(`domaindex: ${message}`))
    await requireOwnPlaces([await filePlace(settings), zonesPlace(settings)], store)
    const dependencies = await createJobDependencies(
      settings,
      store,
      () => {},
      diskSpaceOf(settings, fileFolders(settings), printDiskSpace),
    )
    const built = (await work(dependencies, dayOf(await store.now()))).filter((file) => file !== null)
    printResult(json, { files: built.map(({ manifest }) => manifest) }, built.flatMap(builtFileLines))
  })
}

async function buildFile({ dependencies, step }: BuildRequest): Promise<BuiltFile | null> {
  const progress = startProgress('rows')
  const onRows = (rows: number): void => progress.show(rows, null)
  const outcome = await runStepManually(dependencies.store, step, (lock) =>
    runStep(dependencies, step, lock, { onRows }),
  ).finally(() => progress.end())
  if (outcome === null) return null
  const manifest = (await dependencies.fileStore.manifest(
    fileName(step.job as 'daily' | `followup-${FollowupDays}`, step.date!),
  ))!
  if (manifest.held !== null) process.exitCode = PARTLY_DONE
  return { manifest, note: outcome.message ?? null }
}

function builtFileLines({ manifest, note }: BuiltFile): string[] {
  const [rows, bytes] = [manifest.rows, manifest.bytes].map((number) => number.toLocaleString('en-US'))
  const line = `${manifest.name}: ${rows} names, ${bytes} bytes, revision ${manifest.revision}`
  return note === null ? [line] : [line, note]
}

function parseFollowupDays(text: string): FollowupDays {
  const after = FOLLOWUPS.find((each) => String(each) === text)
  if (after === undefined) throw new InvalidArgumentError('It must be 7 or 30.')
  return after
}

/** `domaindex build snapshot`: builds both editions of the list of all known names. */
function defineBuildSnapshot(command: Command): void {
  command
    .command('snapshot')
    .description('build both editions of the list of all known names')
    .option('--date <day>', 'the day in the names of the files (default: today, UTC)', parseDayArgument)
    .option('--json', 'print one JSON object: files, each with its manifest')
    .addHelpText('after', BUILD_SNAPSHOT_HELP)
    .action(async ({ date = null, json }: { date?: Day | null; json?: true }) => {
      const settings = await loadExistingStoreSettings()
      const outcome = await withExistingStore('write', (store) => buildSnapshotFiles(store, settings, date))
      if (outcome !== null) printResult(json, { files: outcome }, outcome.map(manifestLine))
    })
}

/** Returns the manifests of the built files; null if a signal stopped the build. */
async function buildSnapshotFiles(
  store: Store,
  settings: Settings,
  date: Day | null,
): Promise<readonly FileManifest[] | null> {
  const { snapshotsKept, snapshotParquet } = settings
  const fileStore = await openFileStore(settings)
  await requireOwnPlaces([await filePlace(settings)], store)
  const diskSpace = diskSpaceOf(settings, fileFolders(settings), printDiskSpace)
  const today = dayOf(await store.now())
  if (date !== null && date > today) throw new CommandFault(`${date} is in the future: today is ${today} (UTC)`)
  const steps = stepProgress()
  const work = async (lock: JobLock) => {
    const parts = {
      fileStore,
      listing: store.listing,
      date,
      hasParquet: snapshotParquet,
      keepCount: snapshotsKept,
      onStep: steps.show,
    }
    const threads = packingThreads()
    const built = await buildSnapshots(parts, {
      ...lock,
      requireLock: lock.requireHeld,
      onRows: () => {},
      threads,
      diskSpace,
    })
    return { rows: built[0]!.rows, built }
  }
  const step: JobStep = { job: 'snapshot', date: date ?? today }
  const outcome = await runStepManually(store, step, work).finally(steps.end)
  return outcome?.built ?? null
}

/** Shows one progress line per step. */
function stepProgress(): { show: OnSnapshotStep; end: () => void } {
  let current: { step: string; progress: ReturnType<typeof startProgress> } | null = null
  const end = (): void => current?.progress.end()
  return {
    end,
    show(step, done, all) {
      if (current?.step !== step) {
        end()
        current = { step, progress: startProgress(PROGRESS_UNITS[step]) }
      }
      current.progress.show(done, all ? Math.min(1, done / all) : null)
    },
  }
}

function manifestLine({ name, rows, bytes }: FileManifest): string {
  const [names, size] = [rows, bytes].map((number) => number.toLocaleString('en-US'))
  return `${name}: ${names} names, ${size} bytes`
}
