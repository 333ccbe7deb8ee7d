/** `domaindex build daily` and `domaindex build followup`: the files of a day, at once and by hand. */

import { type Command, InvalidArgumentError } from 'commander'
import { doStep, type Works } from '../../nightly/deeds.ts'
import { FOLLOWUPS, type Followup } from '../../nightly/followup.ts'
import type { Step } from '../../nightly/plan.ts'
import { fileName, type Manifest } from '../../nightly/shelf.ts'
import { addDays, type Day, dayOf, parseDay } from '../../words/time.ts'
import { CommandFault, PARTLY_DONE } from '../fault.ts'
import { progressOf } from '../progress.ts'
import { print } from '../result.ts'
import { roomOf, sayPause } from '../room.ts'
import { settingsOfStore, withStore } from '../store.ts'
import { worksOf } from '../works.ts'
import { byHand } from './hand.ts'

const HELP_DAILY = `
A day whose names are far fewer or far more than those of the same weekday before
(DOMAINDEX_DAILY_BOUNDS, DOMAINDEX_DAILY_FLOOR) is held back: its file is there, and nobody gets it. Look at where its names come from; where they are right, --release hands it out.

Exit codes: 0 the file is there, 1 it could not be built, 2 wrong usage, 3 it is held back.`

const HELP_FOLLOWUP = `
Without --date the files that the newest night was to make. The names are not queued for the crawler, and nothing is waited for: the
rows say what is known now.

Exit codes: 0 the files are there, 1 they could not be built.`

/** A file that was built, and what is to be said of it. */
type File = { manifest: Manifest; words: string | null }
type Made = { works: Works; step: Step; release?: boolean }

export function defineDaily(command: Command): void {
  command
    .command('daily')
    .description('the names that were registered on a day')
    .option('--date <day>', 'the day of registration (default: yesterday, UTC)', readDay)
    .option('--release', 'hand the day out, even where it is out of bounds')
    .option('--json', 'print one JSON object: files, each with its manifest')
    .addHelpText('after', HELP_DAILY)
    .action(({ date = null, release = false, json }: { date?: Day | null; release?: boolean; json?: true }) =>
      withWorks(json, async (works, today) => {
        const day = date ?? addDays(today, -1)
        if (day >= today) throw new CommandFault(`${day} is not over yet: today is ${today} (UTC)`)
        const isKnown = (await works.sources.days()).some((each) => each.day === day)
        if (!isKnown)
          throw new CommandFault(
            `nothing is known of ${day}: import a zone or a list of that day first (DOMAINDEX_ZONES)`,
          )
        return [await make({ works, step: { job: 'daily', date: day }, release })]
      }),
    )
}

export function defineFollowup(command: Command): void {
  command
    .command('followup')
    .description('what became of the names that were registered 7 and 30 days before')
    .option('--date <day>', 'the day of registration', readDay)
    .option('--after <days>', '7 or 30 (default: both that are due)', readAfter)
    .option('--json', 'print one JSON object: files, each with its manifest')
    .addHelpText('after', HELP_FOLLOWUP)
    .action(({ date = null, after = null, json }: { date?: Day | null; after?: Followup | null; json?: true }) =>
      withWorks(json, async (works, today) => {
        const made: (File | null)[] = []
        for (const step of await followupsOf(works, today, date, after)) made.push(await make({ works, step }))
        return made
      }),
    )
}

/** Those that are due, of one day or of the newest night. Throws CommandFault where there are none. */
async function followupsOf({ shelf }: Works, today: Day, date: Day | null, only: Followup | null): Promise<Step[]> {
  const steps: Step[] = []
  for (const after of FOLLOWUPS) {
    if (only !== null && after !== only) continue
    const day = date ?? addDays(today, -after - 1)
    const isDue = addDays(day, after) < today
    if (date !== null && !isDue && only !== null)
      throw new CommandFault(`day +${after} of ${day} is ${addDays(day, after)}, and today is ${today} (UTC)`)
    const isThere = date !== null || (await shelf.manifest(fileName('daily', day))) !== null
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
async function withWorks(
  json: true | undefined,
  work: (works: Works, today: Day) => Promise<(File | null)[]>,
): Promise<void> {
  const settings = await settingsOfStore()
  await withStore('write', async (store) => {
    const works = worksOf(settings, store, () => {}, roomOf(settings, [settings.files], sayPause))
    const made = (await work(works, dayOf(await store.now()))).filter((file) => file !== null)
    print(json, { files: made.map(({ manifest }) => manifest) }, made.flatMap(linesOf))
  })
}

async function make({ works, step, release = false }: Made): Promise<File | null> {
  const progress = progressOf('rows')
  const onRows = (rows: number): void => progress.show(rows, null)
  const outcome = await byHand(works.store, step, (hand) => doStep(works, step, hand, { onRows, release })).finally(
    () => progress.end(),
  )
  if (outcome === null) return null
  const manifest = (await works.shelf.manifest(fileName(step.job as 'daily' | `followup-${Followup}`, step.date!)))!
  if (manifest.held !== null) process.exitCode = PARTLY_DONE
  return { manifest, words: outcome.words ?? null }
}

function linesOf({ manifest, words }: File): string[] {
  const [rows, bytes] = [manifest.rows, manifest.bytes].map((number) => number.toLocaleString('en-US'))
  const line = `${manifest.name}: ${rows} names, ${bytes} bytes, revision ${manifest.revision}`
  return words === null ? [line] : [line, words]
}

export function readDay(text: string): Day {
  const day = parseDay(text)
  if (day === null) throw new InvalidArgumentError('write it as in 2026-11-20.')
  return day
}

function readAfter(text: string): Followup {
  const after = FOLLOWUPS.find((each) => String(each) === text)
  if (after === undefined) throw new InvalidArgumentError('it is 7 or 30.')
  return after
}
