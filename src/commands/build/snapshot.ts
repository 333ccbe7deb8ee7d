/** `domaindex build snapshot`: both editions of the list of all known names. */

import { availableParallelism } from 'node:os'
import type { Command } from 'commander'
import type { Settings } from '../../config.ts'
import type { InHand } from '../../nightly/duty.ts'
import type { Step } from '../../nightly/plan.ts'
import type { Manifest } from '../../nightly/shelf.ts'
import { openShelfFolder } from '../../nightly/shelf-folder.ts'
import { buildSnapshots, type SnapshotBuild } from '../../nightly/snapshot.ts'
import type { Store } from '../../store/store.ts'
import { type Day, dayOf } from '../../words/time.ts'
import { CommandFault } from '../fault.ts'
import { progressOf } from '../progress.ts'
import { print } from '../result.ts'
import { roomOf, sayPause } from '../room.ts'
import { settingsOfStore, withStore } from '../store.ts'
import { readDay } from './days.ts'
import { byHand } from './hand.ts'

const HELP = `
Builds the list of all known names and the edition with columns, of the names that are known when it begins, beside all else
that reads and writes. Of each edition DOMAINDEX_SNAPSHOTS_KEPT stay in DOMAINDEX_FILES.

Exit codes: 0 both are built, 1 they are not, and the former files are as they were.`

/** Threads that pack, at most: each takes some 20 MB. */
const MOST_THREADS = 16

type OnStep = NonNullable<SnapshotBuild['onStep']>

const UNITS: Readonly<Record<Parameters<OnStep>[0], string>> = {
  names: 'new names put in order',
  snapshot: 'names',
  facts: 'facts put in order',
  enriched: 'rows',
}

export function defineSnapshot(command: Command): void {
  command
    .command('snapshot')
    .description('both editions of the list of all known names')
    .option('--date <day>', 'the day in the names of the files (default: today, UTC)', readDay)
    .option('--json', 'print one JSON object: files, each with its manifest')
    .addHelpText('after', HELP)
    .action(async ({ date = null, json }: { date?: Day | null; json?: true }) => {
      const settings = await settingsOfStore()
      const made = await withStore('write', (store) => build(store, settings, date))
      if (made !== null) print(json, { files: made }, made.map(lineOf))
    })
}

/** The manifests of what was built; null where it was stopped. */
async function build(store: Store, settings: Settings, date: Day | null): Promise<readonly Manifest[] | null> {
  const { files, snapshotsKept: kept } = settings
  const room = roomOf(settings, [files], sayPause)
  const today = dayOf(await store.now())
  if (date !== null && date > today) throw new CommandFault(`${date} is not here yet: today is ${today} (UTC)`)
  const steps = stepsOf()
  const work = async (hand: InHand) => {
    const parts = { shelf: openShelfFolder(files), listing: store.listing, date, kept, onStep: steps.show }
    const threads = Math.min(MOST_THREADS, availableParallelism())
    const built = await buildSnapshots(parts, { ...hand, onRows: () => {}, threads, room })
    return { rows: built[0]!.rows, built }
  }
  const step: Step = { job: 'snapshot', date: date ?? today }
  const made = await byHand(store, step, work).finally(steps.end)
  return made?.built ?? null
}

/** A line of progress for each step, one after another. */
function stepsOf(): { show: OnStep; end: () => void } {
  let under: { step: string; progress: ReturnType<typeof progressOf> } | null = null
  const end = (): void => under?.progress.end()
  return {
    end,
    show(step, done, all) {
      if (under?.step !== step) {
        end()
        under = { step, progress: progressOf(UNITS[step]) }
      }
      under.progress.show(done, all ? Math.min(1, done / all) : null)
    },
  }
}

function lineOf({ name, rows, bytes }: Manifest): string {
  const [names, size] = [rows, bytes].map((number) => number.toLocaleString('en-US'))
  return `${name}: ${names} names, ${size} bytes`
}
