/** `domaindex build snapshot`: builds both editions of the list of all known names. */

import { availableParallelism } from 'node:os'
import type { Command } from 'commander'
import { CommandFault } from '../../config/command-fault.ts'
import type { Settings } from '../../config/settings.ts'
import type { FileManifest } from '../../jobs/file-store/file-store.ts'
import { fileFolders } from '../../jobs/file-store/location.ts'
import { openFileStore } from '../../jobs/file-store/open.ts'
import type { JobLock } from '../../jobs/job-lock.ts'
import type { JobStep } from '../../jobs/job-plan.ts'
import { buildSnapshots, type SnapshotBuild } from '../../jobs/snapshot.ts'
import { diskSpaceOf, printDiskSpace } from '../../server/disk-space.ts'
import { requireOwnPlaces } from '../../server/places/check.ts'
import { filePlace } from '../../server/places/place.ts'
import type { Store } from '../../store/port/store.ts'
import { type Day, dayOf } from '../../values/time.ts'
import { parseDayArgument } from '../program/day-argument.ts'
import { loadExistingStoreSettings, withExistingStore } from '../program/existing-store.ts'
import { printResult } from '../program/print-result.ts'
import { startProgress } from '../program/progress.ts'
import { runStepManually } from './run-manually.ts'

const BUILD_SNAPSHOT_HELP = `
This builds the list of all known names and the edition with columns, from the names known at the
start. The store may be in use. DOMAINDEX_FILES keeps the newest DOMAINDEX_SNAPSHOTS_KEPT files of
each edition.

Exit codes: 0 both are built, 1 they are not built, and the previous files are unchanged.`

/** Maximum number of compression threads. Each uses about 20 MB. */
const MAX_GZIP_THREADS = 16

type OnSnapshotStep = NonNullable<SnapshotBuild['onStep']>

const PROGRESS_UNITS: Readonly<Record<Parameters<OnSnapshotStep>[0], string>> = {
  names: 'new names sorted',
  snapshot: 'names',
  facts: 'facts sorted',
  enriched: 'rows',
}

export function defineBuildSnapshot(command: Command): void {
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
    const threads = Math.min(MAX_GZIP_THREADS, availableParallelism())
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
