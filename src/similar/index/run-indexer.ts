/** Keeps the index of /similar in one process of all, as long as it has the duty: others stand by. */

import type { DiskSpaceMonitor } from '../../store/disk-space.ts'
import { type WaitClock, withNamedLock } from '../../store/named-lock.ts'
import type { Store } from '../../store/port/store.ts'
import { type IndexProgress, SimilarIndexer } from './similar-indexer.ts'

export type { IndexProgress as Progress } from './similar-indexer.ts'

export type IndexRun<Told = { progress(progress: IndexProgress): void }> = {
  store: Pick<Store, 'similar' | 'similarIndex' | 'jobs' | 'now'>
  holder: string
  clock: WaitClock
  /** Where there is too little room on the disk it waits; without, it does not. */
  diskSpace?: Pick<DiskSpaceMonitor, 'wait'>
  reporter: Told
}

/** One that is kept also when something fails. */
type ContinuousIndexRun = IndexRun<{ progress(progress: IndexProgress): void; failed(error: unknown): void }>

/** Milliseconds until it is looked again whether pages wait. */
const POLL_MS = 500
/** Milliseconds until the duty that another process has is asked for again. */
const LOCK_RETRY_MS = 5000
/** Milliseconds after a fault. */
const ERROR_RETRY_MS = 10_000

/** Follows what is observed until the signal comes. */
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
 * Brings the index up to date once: returns when nothing waits and nothing is left to merge or to sweep, or the signal
 * comes.
 * Null where another process has the duty.
 */
export async function indexOnce(index: IndexRun, signal: AbortSignal): Promise<IndexProgress | null> {
  const ran = await withIndexer(index, signal, async (indexer, until) => {
    await index.diskSpace?.wait(until)
    while (!until.aborted && (await indexer.step())) {
      index.reporter.progress({ ...indexer.progress })
      await index.diskSpace?.wait(until)
    }
    if (!signal.aborted) until.throwIfAborted()
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
