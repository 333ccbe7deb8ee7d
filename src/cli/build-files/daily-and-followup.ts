/** `domaindex build daily` and `domaindex build followup`: the files of a day, at once and by hand. */

import { type Command, InvalidArgumentError } from 'commander'
import { CommandFault, PARTLY_DONE } from '../../config/command-fault.ts'
import { type FileManifest, fileName } from '../../jobs/file-store/file-store.ts'
import { FOLLOWUPS, type FollowupDays } from '../../jobs/followup.ts'
import type { JobStep } from '../../jobs/job-plan.ts'
import { type JobDependencies, runStep } from '../../jobs/steps.ts'
import { diskSpaceOf, printDiskSpace } from '../../server/disk-space.ts'
import { createJobDependencies } from '../../server/job-dependencies.ts'
import { addDays, type Day, dayOf, parseDay } from '../../values/time.ts'
import { loadExistingStoreSettings, withExistingStore } from '../program/existing-store.ts'
import { printResult } from '../program/print-result.ts'
import { startProgress } from '../program/progress.ts'
import { runStepManually } from './run-manually.ts'

const BUILD_DAILY_HELP = `
A day whose names are far fewer or far more than those of the same weekday before
(DOMAINDEX_DAILY_BOUNDS, DOMAINDEX_DAILY_MIN_DIFFERENCE) is held back: its file is there, and nobody gets it. Look at where its names come from; where they are right, --release hands it out.

Exit codes: 0 the file is there, 1 it could not be built, 2 wrong usage, 3 it is held back.`

const BUILD_FOLLOWUP_HELP = `
Without --date the files that the newest night was to make. The names are not queued for the crawler, and nothing is waited for: the
rows say what is known now.

Exit codes: 0 the files are there, 1 they could not be built.`

/** A file that was built, and what is to be said of it. */
type BuiltFile = { manifest: FileManifest; note: string | null }
type BuildRequest = { dependencies: JobDependencies; step: JobStep; release?: boolean }

export function defineBuildDaily(command: Command): void {
  command
    .command('daily')
    .description('the names that were registered on a day')
    .option('--date <day>', 'the day of registration (default: yesterday, UTC)', parseBuildDay)
    .option('--release', 'hand the day out, even where it is out of bounds')
    .option('--json', 'print one JSON object: files, each with its manifest')
    .addHelpText('after', BUILD_DAILY_HELP)
    .action(({ date = null, release = false, json }: { date?: Day | null; release?: boolean; json?: true }) =>
      withJobDependencies(json, async (works, today) => {
        const day = date ?? addDays(today, -1)
        if (day >= today) throw new CommandFault(`${day} is not over yet: today is ${today} (UTC)`)
        const isKnown = (await works.registrations.days()).some((each) => each.day === day)
        if (!isKnown)
          throw new CommandFault(
            `nothing is known of ${day}: import a zone or a list of that day first (DOMAINDEX_ZONES)`,
          )
        return [await buildFile({ dependencies: works, step: { job: 'daily', date: day }, release })]
      }),
    )
}

export function defineBuildFollowup(command: Command): void {
  command
    .command('followup')
    .description('what became of the names that were registered 7 and 30 days before')
    .option('--date <day>', 'the day of registration', parseBuildDay)
    .option('--after <days>', '7 or 30 (default: both that are due)', parseFollowupDays)
    .option('--json', 'print one JSON object: files, each with its manifest')
    .addHelpText('after', BUILD_FOLLOWUP_HELP)
    .action(({ date = null, after = null, json }: { date?: Day | null; after?: FollowupDays | null; json?: true }) =>
      withJobDependencies(json, async (works, today) => {
        const made: (BuiltFile | null)[] = []
        for (const step of await dueFollowupSteps(works, today, date, after))
          made.push(await buildFile({ dependencies: works, step }))
        return made
      }),
    )
}

/** Those that are due, of one day or of the newest night. Throws CommandFault where there are none. */
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
    const isThere = date !== null || (await fileStore.manifest(fileName('daily', day))) !== null
    if (isDue && isThere) steps.push({ job: `followup-${after}`, date: day })
  }
  if (steps.length > 0) return steps
  throw new CommandFault(
    date === null
      ? `no day has a follow-up due with a daily file: name one with --date`
      : `no follow-up of ${date} is due yet`,
  )
}

/** Prints what `work` made; null stands for a file that was not, because the command was stopped. */
async function withJobDependencies(
  json: true | undefined,
  work: (works: JobDependencies, today: Day) => Promise<(BuiltFile | null)[]>,
): Promise<void> {
  const settings = await loadExistingStoreSettings()
  await withExistingStore('write', async (store) => {
    const works = createJobDependencies(
      settings,
      store,
      () => {},
      diskSpaceOf(settings, [settings.files], printDiskSpace),
    )
    const made = (await work(works, dayOf(await store.now()))).filter((file) => file !== null)
    printResult(json, { files: made.map(({ manifest }) => manifest) }, made.flatMap(builtFileLines))
  })
}

async function buildFile({ dependencies: works, step, release = false }: BuildRequest): Promise<BuiltFile | null> {
  const progress = startProgress('rows')
  const onRows = (rows: number): void => progress.show(rows, null)
  const outcome = await runStepManually(works.store, step, (hand) =>
    runStep(works, step, hand, { onRows, release }),
  ).finally(() => progress.end())
  if (outcome === null) return null
  const manifest = (await works.fileStore.manifest(
    fileName(step.job as 'daily' | `followup-${FollowupDays}`, step.date!),
  ))!
  if (manifest.held !== null) process.exitCode = PARTLY_DONE
  return { manifest, note: outcome.message ?? null }
}

function builtFileLines({ manifest, note: words }: BuiltFile): string[] {
  const [rows, bytes] = [manifest.rows, manifest.bytes].map((number) => number.toLocaleString('en-US'))
  const line = `${manifest.name}: ${rows} names, ${bytes} bytes, revision ${manifest.revision}`
  return words === null ? [line] : [line, words]
}

export function parseBuildDay(text: string): Day {
  const day = parseDay(text)
  if (day === null) throw new InvalidArgumentError('write it as in 2026-11-20.')
  return day
}

function parseFollowupDays(text: string): FollowupDays {
  const after = FOLLOWUPS.find((each) => String(each) === text)
  if (after === undefined) throw new InvalidArgumentError('it is 7 or 30.')
  return after
}
