/** `domaindex build daily` and `domaindex build followup`: build the files of a day manually. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { CommandFault, PARTLY_DONE } from '../../config/command-fault.ts'
import { type FileManifest, fileName } from '../../jobs/file-store/file-store.ts'
import { fileFolders } from '../../jobs/file-store/location.ts'
import { FOLLOWUPS, type FollowupDays } from '../../jobs/followup.ts'
import type { JobStep } from '../../jobs/job-plan.ts'
import { type JobDependencies, runStep } from '../../jobs/steps.ts'
import { diskSpaceOf, printDiskSpace } from '../../server/disk-space.ts'
import { createJobDependencies } from '../../server/job-dependencies.ts'
import { requireOwnPlaces } from '../../server/places/check.ts'
import { filePlace, zonesPlace } from '../../server/places/place.ts'
import { addDays, type Day, dayOf } from '../../values/time.ts'
import { parseDayArgument } from '../program/day-argument.ts'
import { loadExistingStoreSettings, withExistingStore } from '../program/existing-store.ts'
import { printResult } from '../program/print-result.ts'
import { startProgress } from '../program/progress.ts'
import { runStepManually } from './run-manually.ts'

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

export function defineBuildDaily(command: Command): void {
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

export function defineBuildFollowup(command: Command): void {
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
  await withExistingStore('write', async (store) => {
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
