/** `domaindex prune`: removes what is older than the settings keep it, as the scheduled job does. */

import type { Command } from 'commander'
import { CommandFault } from '../../config/command-fault.ts'
import type { Settings } from '../../config/settings.ts'
import { openFileStore } from '../../jobs/file-store/open.ts'
import { type JobLock, withJobLock } from '../../jobs/job-lock.ts'
import { type PruneReport, prune } from '../../jobs/prune.ts'
import { pruneDependencies, prunedRows } from '../../server/job-dependencies.ts'
import { requireOwnPlaces } from '../../server/places/check.ts'
import { filePlace, inboxPlace, zonesPlace } from '../../server/places/place.ts'
import { SYSTEM_CLOCK } from '../../server/system-clock.ts'
import { processHolderName } from '../../store/named-lock.ts'
import type { Store } from '../../store/port/store.ts'
import { loadExistingStoreSettings, withStore } from '../program/existing-store.ts'
import { alignedColumns, listenForStop, printResult, startProgress } from '../program/output.ts'

const PRUNE_HELP = `
The settings DOMAINDEX_KEEP_… say how long each kind of data is kept. serve runs the same job once a
day. The store may be in use. Ctrl-C stops it; what is removed stays removed. Run it again to
continue.

Exit codes: 0 nothing older is left, 1 it failed or was stopped, 2 wrong usage.`

export function definePrune(command: Command): void {
  command
    .option('--dry-run', 'remove nothing, and print what would be removed')
    .option('--json', 'print one JSON object: dry_run, removed (a number for each kind)')
    .addHelpText('after', PRUNE_HELP)
    .action(async ({ dryRun = false, json }: { dryRun?: boolean; json?: true }) => {
      const settings = await loadExistingStoreSettings()
      const report = await withStore(settings, 'write', (store) => pruneManually(settings, store, dryRun))
      if (report !== null) printResult(json, { dry_run: dryRun, removed: report }, reportLines(report, dryRun))
    })
}

/** What each number of a report counts. */
const COUNTED: Readonly<Record<keyof PruneReport, string>> = {
  states: 'superseded states',
  names: 'names that had them',
  usage: 'rows of usage',
  audit: 'entries of the audit log',
  expired: 'expired sessions, links, counts and answers',
  files: 'finished files',
  days: 'days of registrations',
  inbox: 'files of the inbox',
}

function reportLines(report: PruneReport, isDry: boolean): string[] {
  const rows = Object.entries(COUNTED).map(([kind, text]) => [
    text,
    report[kind as keyof PruneReport].toLocaleString('en-US').padStart(13),
  ])
  return alignedColumns([['kind', (isDry ? 'to remove' : 'removed').padStart(13)], ...rows])
}

/** Returns null if a signal stopped it. Throws CommandFault if another process prunes. */
async function pruneManually(settings: Settings, store: Store, isDry: boolean): Promise<PruneReport | null> {
  await requireOwnPlaces([await filePlace(settings), zonesPlace(settings), inboxPlace(settings)], store)
  const dependencies = pruneDependencies(settings, store, await openFileStore(settings))
  const stop = listenForStop()
  const progress = startProgress('states')
  const work = (lock: JobLock | null): Promise<PruneReport> =>
    prune(dependencies, {
      lock,
      clock: SYSTEM_CLOCK,
      signal: lock?.signal ?? stop.signal,
      onHistory: ({ states }, share) => progress.show(states, share),
    })
  try {
    return isDry ? await work(null) : await pruneLocked(store, stop.signal, work)
  } catch (error) {
    if (!stop.signal.aborted) throw error
    console.error('stopped before the end; run it again to continue')
    process.exitCode = 1
    return null
  } finally {
    progress.end()
    stop.end()
  }
}

async function pruneLocked(
  { jobs }: Pick<Store, 'jobs'>,
  signal: AbortSignal,
  work: (lock: JobLock) => Promise<PruneReport>,
): Promise<PruneReport> {
  const owner = { jobs, holder: processHolderName(), clock: SYSTEM_CLOCK }
  const done = await withJobLock('prune', owner, signal, (lock) =>
    lock.record({ job: 'prune', date: null }, async () => {
      const report = await work(lock)
      return { rows: prunedRows(report), report }
    }),
  )
  if (done !== null) return done.result.report
  const holder = (await jobs.lockHolders()).find(({ name }) => name === 'prune')?.holder ?? 'another process'
  throw new CommandFault(`${holder} is pruning now: wait until it has finished (domaindex jobs)`)
}
