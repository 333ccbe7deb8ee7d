/** Maintains the /similar index in one process, which holds a named lock. Other processes stand by. */

import type { DiskSpaceMonitor } from '../../store/disk-space.ts'
import { type LockClock, withNamedLock } from '../../store/named-lock.ts'
import type { Store } from '../../store/port/store.ts'
import { type IndexProgress, SimilarIndexer } from './similar-indexer.ts'

type IndexRun<Reporter = { progress(progress: IndexProgress): void }> = {
  store: Pick<Store, 'similar' | 'similarIndex' | 'jobs' | 'now'>
  holder: string
  clock: LockClock
  /** Pauses the indexer while disk space is low. Without it, the indexer does not check. */
  diskSpace?: Pick<DiskSpaceMonitor, 'wait'>
  reporter: Reporter
}

/** A run that continues after an error. */
type ContinuousIndexRun = IndexRun<{ progress(progress: IndexProgress): void; failed(error: unknown): void }>

/** Milliseconds between two checks for pending pages. */
const POLL_MS = 500
/** Milliseconds between two attempts to acquire a lock that another process holds. */
const LOCK_RETRY_MS = 5000
/** Milliseconds to wait after an error. */
const ERROR_RETRY_MS = 10_000

/** Indexes new observations until the signal aborts. */
export async function runIndexer(index: ContinuousIndexRun, signal: AbortSignal): Promise<void> {
  const { clock, reporter } = index
  while (!signal.aborted) {
    try {
      const ran = await withIndexer(index, signal, (indexer, until) => followChanges(index, indexer, until))
      if (ran === null) await clock.wait(LOCK_RETRY_MS, signal)
    } catch (error) {
      if (signal.aborted) return
      reporter.failed(error)
      await clock.wait(ERROR_RETRY_MS, signal)
    }
  }
}

/**
 * Brings the index up to date once. Returns when no page waits and nothing is left to merge or clean up, or when the
 * signal aborts. `restart`: indexes every document again. Returns null if another process holds the lock.
 */
export async function indexOnce(
  { restart = false, ...index }: IndexRun & { restart?: boolean },
  signal: AbortSignal,
): Promise<IndexProgress | null> {
  const ran = await withIndexer(index, signal, async (indexer, until) => {
    await index.diskSpace?.wait(until)
    if (restart) await indexer.restart()
    while (!until.aborted && (await indexer.step())) {
      index.reporter.progress({ ...indexer.progress })
      await index.diskSpace?.wait(until)
    }
    if (!signal.aborted) until.throwIfAborted()
    if (!until.aborted) await indexer.step() // without work left, it records that the index is complete
    return { ...indexer.progress }
  })
  return ran === null ? null : ran.result
}

async function followChanges(
  { clock, reporter, diskSpace }: ContinuousIndexRun,
  indexer: SimilarIndexer,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await diskSpace?.wait(signal)
    if (await indexer.step()) reporter.progress({ ...indexer.progress })
    else await clock.wait(POLL_MS, signal)
  }
  signal.throwIfAborted()
}

function withIndexer<Result>(
  { store, holder, clock }: IndexRun,
  signal: AbortSignal,
  work: (indexer: SimilarIndexer, signal: AbortSignal) => Promise<Result>,
): Promise<{ result: Result } | null> {
  return withNamedLock('index', { jobs: store.jobs, holder, clock }, signal, (lock) =>
    work(new SimilarIndexer(store, lock), lock.signal),
  )
}
