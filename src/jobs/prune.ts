/**
 * The job `prune`: removes what is older than the settings keep it, gives the space back to the disk, and records what the
 * installation takes.
 */

import { removeEventsOfDeletedAccounts } from '../store/deleted-accounts.ts'
import type { LockClock } from '../store/named-lock.ts'
import { LEDGER_KINDS, type LedgerKind, type PrunedStates, type StateCutoffs } from '../store/port/retention.ts'
import type { Store } from '../store/port/store.ts'
import { pruneHistory } from '../store/prune-history.ts'
import { type PlaceSizes, recordSizes } from '../store/size-history.ts'
import type { StateType } from '../values/state-type.ts'
import { type Day, dayOf, type Instant } from '../values/time.ts'
import { FILE_KINDS, type FileKind, type FileStore, snapshotEditionOf } from './file-store/file-store.ts'
import type { JobLock } from './job-lock.ts'

/** How long data is kept, in seconds; null, or a type that is missing: for ever. */
export type Retention = {
  history: Readonly<Partial<Record<StateType, number>>>
  files: number | null
  inbox: number | null
  usage: number | null
  audit: number | null
}

/** Removes what is from before a time, or only counts it. Returns how many there are. */
type Removal<Time> = (before: Time, isDry: boolean) => Promise<number>

export type PruneDependencies = {
  store: Pick<Store, 'pruning' | 'maintenance' | 'inverse' | 'ledger' | 'events' | 'eventRemover' | 'now'>
  fileStore: Pick<FileStore, 'list' | 'remove'>
  /** The days of which zones and lists say what was registered and dropped. */
  removeDays: Removal<Day>
  /** The files that the inbox has imported or refused. */
  removeInboxFiles: Removal<Instant>
  /** What the installation takes, which is kept of each day. */
  measureSizes(): Promise<PlaceSizes>
  retention: Retention
}

/**
 * What was removed, or what would be: superseded states and the names that they are of, rows of the ledger by kind,
 * finished files, days of registrations, and files of the inbox.
 */
export type PruneReport = PrunedStates & Record<LedgerKind, number> & { files: number; days: number; inbox: number }

export type PruneRun = {
  /** Null: nothing is removed, and the report says what would be. */
  lock: Pick<JobLock, 'hold' | 'requireHeld'> | null
  clock: LockClock
  signal: AbortSignal
  /** Milliseconds after which no more history is removed. */
  maxDuration?: number
  /** Called with the states that were removed so far, and the share of the store that was searched. */
  onHistory?: (pruned: PrunedStates, share: number) => void
}

/** The kinds of files that are kept by their day. Of snapshots, a number is kept. */
const FILE_KINDS_BY_DAY: readonly FileKind[] = FILE_KINDS.filter((kind) => snapshotEditionOf(kind) === null)

/** Prunes one kind after another. What is done stays done if the signal aborts, or if the lock is lost. */
export async function prune(dependencies: PruneDependencies, run: PruneRun): Promise<PruneReport> {
  const { store, retention, removeInboxFiles } = dependencies
  const now = await store.now()
  const isDry = run.lock === null
  const report: PruneReport = { states: 0, names: 0, usage: 0, audit: 0, expired: 0, files: 0, days: 0, inbox: 0 }
  for (const kind of LEDGER_KINDS) {
    const age = kind === 'expired' ? 0 : retention[kind]
    if (age !== null) report[kind] = await pruneLedger(store, kind, now - age, now, run)
  }
  await run.lock?.requireHeld()
  report.expired += await removeEventsOfDeletedAccounts(store, isDry)
  if (retention.inbox !== null) report.inbox = await removeInboxFiles(now - retention.inbox, isDry)
  if (retention.files !== null) Object.assign(report, await pruneFiles(dependencies, dayOf(now - retention.files), run))
  const hold = run.lock?.hold ?? null
  const { signal, clock, maxDuration, onHistory } = run
  const history = {
    cutoffs: cutoffsOf(retention, now),
    hold,
    clock,
    signal,
    maxDuration,
    ...(onHistory && { onProgress: onHistory }),
  }
  const pruned = await pruneHistory(store, history)
  if (pruned === null) await run.lock!.requireHeld() // throws
  Object.assign(report, pruned)
  if (isDry) return report
  while (await store.pruning.releaseSpace()) run.signal.throwIfAborted()
  await recordSizes(store.maintenance, { day: dayOf(now), ...(await dependencies.measureSizes()) })
  return report
}

function cutoffsOf({ history }: Retention, now: Instant): StateCutoffs {
  return Object.fromEntries(Object.entries(history).map(([type, age]) => [type, now - age]))
}

async function pruneLedger(
  { ledger }: Pick<Store, 'ledger'>,
  kind: LedgerKind,
  before: Instant,
  now: Instant,
  { lock, signal }: PruneRun,
): Promise<number> {
  if (lock === null) return ledger.prunableRows(kind, before, now)
  let total = 0
  for (let after: number | null = 0; after !== null; ) {
    signal.throwIfAborted()
    const { removed, next }: Awaited<ReturnType<typeof ledger.prune>> = await ledger.prune(kind, before, after, now)
    total += removed
    after = next
  }
  return total
}

/** Removes the registrations of a day before its files: a file whose registrations exist would be built again. */
async function pruneFiles(
  { fileStore, removeDays }: PruneDependencies,
  before: Day,
  { lock, signal }: PruneRun,
): Promise<Pick<PruneReport, 'files' | 'days'>> {
  const days = await removeDays(before, lock === null)
  let files = 0
  for (const kind of FILE_KINDS_BY_DAY)
    for (const { name } of (await fileStore.list(kind)).filter(({ date }) => date < before)) {
      signal.throwIfAborted()
      if (lock !== null) await fileStore.remove(name)
      files++
    }
  return { files, days }
}
