/** Keeps the index of /similar in one process of all, as long as it has the duty: others stand by. */

import type { DiskRoom } from '../store/disk-room.ts'
import { type Clock, withDuty } from '../store/duty.ts'
import type { Store } from '../store/store.ts'
import { Indexer, type Progress } from './work.ts'

export type { Progress } from './work.ts'

export type Index<Told = { progress(progress: Progress): void }> = {
  store: Pick<Store, 'similar' | 'indexing' | 'jobs' | 'now'>
  holder: string
  clock: Clock
  /** Where there is too little room on the disk it waits; without, it does not. */
  room?: Pick<DiskRoom, 'wait'>
  tell: Told
}

/** One that is kept also when something fails. */
type Kept = Index<{ progress(progress: Progress): void; failed(error: unknown): void }>

/** Milliseconds until it is looked again whether pages wait. */
const PAUSE = 500
/** Milliseconds until the duty that another process has is asked for again. */
const TAKEN = 5000
/** Milliseconds after a fault. */
const FAULT = 10_000

/** Follows what is observed until the signal comes. */
export async function keepIndex(index: Kept, signal: AbortSignal): Promise<void> {
  const { clock, tell } = index
  while (!signal.aborted) {
    try {
      const ran = await withIndexer(index, signal, (indexer, until) => follow(index, indexer, until))
      if (ran === null) await clock.wait(TAKEN, signal)
    } catch (error) {
      if (signal.aborted) return
      tell.failed(error)
      await clock.wait(FAULT, signal)
    }
  }
}

/**
 * Brings the index up to date once: returns when nothing waits and nothing is left to merge or to sweep, or the signal comes.
 * Null where another process has the duty.
 */
export async function indexOnce(index: Index, signal: AbortSignal): Promise<Progress | null> {
  const ran = await withIndexer(index, signal, async (indexer, until) => {
    await index.room?.wait(until)
    while (!until.aborted && (await indexer.step())) {
      index.tell.progress({ ...indexer.progress })
      await index.room?.wait(until)
    }
    if (!signal.aborted) until.throwIfAborted()
    return { ...indexer.progress }
  })
  return ran === null ? null : ran.result
}

async function follow({ clock, tell, room }: Kept, indexer: Indexer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await room?.wait(signal)
    if (await indexer.step()) tell.progress({ ...indexer.progress })
    else await clock.wait(PAUSE, signal)
  }
  signal.throwIfAborted()
}

function withIndexer<Result>(
  { store, holder, clock }: Index,
  signal: AbortSignal,
  work: (indexer: Indexer, signal: AbortSignal) => Promise<Result>,
): Promise<{ result: Result } | null> {
  return withDuty('index', { jobs: store.jobs, holder, clock }, signal, (hand) =>
    work(new Indexer(store, hand), hand.signal),
  )
}
