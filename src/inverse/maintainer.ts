/**
 * Maintains the inverse index in one process, which holds a named lock: adds the names of a store that is older than
 * its index, and merges runs, so that a look-up reads few.
 */

import type { DiskSpaceMonitor } from '../store/disk-space.ts'
import { entriesOfPortion, portionEnd } from '../store/inverse/portion.ts'
import { type HeldLock, type LockClock, withNamedLock } from '../store/named-lock.ts'
import type { InverseIndexStore, InverseRun } from '../store/port/inverse.ts'
import type { Store } from '../store/port/store.ts'
import { yieldToEventLoop } from '../store/shared/event-loop.ts'
import { BlockWriter } from './entries/block.ts'
import { compareKeys } from './entries/merge.ts'

/** `share` of an older store that is filled in, the number of runs, and the blocks that merges have written. */
export type InverseIndexProgress = { share: number; runs: number; blocks: number }

export type InverseIndexing = {
  store: Pick<Store, 'inverseIndex' | 'jobs'>
  holder: string
  clock: LockClock
  /** Pauses the work while disk space is low. Without it, the work does not check. */
  diskSpace?: Pick<DiskSpaceMonitor, 'wait'> | undefined
  reporter: { progress(progress: InverseIndexProgress): void }
}
type ContinuousIndexing = InverseIndexing & { reporter: { failed(error: unknown): void } }

/** Names of an older store that are added in one transaction. */
const NAMES_PER_FILL = 500
/** Runs of about the same size are merged if there are this many. */
const MERGED_RUNS = 4
/** Runs that are merged at once at most. */
const MAX_MERGED_RUNS = 128
/** Runs up to this size count as of the same size. Each further size is four times as large. */
const SMALL_RUN_BYTES = 2 ** 16
const SIZE_STEP = 4
/** Blocks that a merge reads and writes in one transaction, of all runs together. */
const BLOCKS_PER_PORTION = 768
const MAX_GROWN_BLOCKS = 65_536
/** A writer merges above this number of runs. */
const MAX_RUNS = 256
/** Blocks of replaced runs that are deleted in one transaction. */
const BLOCKS_PER_CLEANUP = 5000
/** Milliseconds between two checks for new runs, between two attempts to acquire the lock, and after an error. */
const POLL_MS = 500
const LOCK_RETRY_MS = 5000
const ERROR_RETRY_MS = 10_000

/** Maintains the index until the signal aborts. */
export async function runInverseMaintenance(indexing: ContinuousIndexing, signal: AbortSignal): Promise<void> {
  const { clock, reporter } = indexing
  while (!signal.aborted) {
    try {
      const ran = await withMaintainer(indexing, signal, (maintainer, until) =>
        followChanges(indexing, maintainer, until),
      )
      if (ran === null) await clock.wait(LOCK_RETRY_MS, signal)
    } catch (error) {
      if (signal.aborted) return
      reporter.failed(error)
      await clock.wait(ERROR_RETRY_MS, signal)
    }
  }
}

/**
 * Works until nothing is left to fill in, to merge or to remove, or until the signal aborts. `restart`: builds the index
 * again from the facts. Returns null if another process holds the lock.
 */
export async function maintainInverseOnce(
  { diskSpace, reporter, restart = false, ...indexing }: InverseIndexing & { restart?: boolean },
  signal: AbortSignal,
): Promise<InverseIndexProgress | null> {
  const ran = await withMaintainer({ ...indexing, reporter }, signal, async (maintainer, until) => {
    await diskSpace?.wait(until)
    if (restart) await maintainer.restart()
    while (!until.aborted && (await maintainer.step())) {
      reporter.progress({ ...maintainer.progress })
      await diskSpace?.wait(until)
    }
    if (!signal.aborted) until.throwIfAborted()
    return { ...maintainer.progress }
  })
  return ran === null ? null : ran.result
}

async function followChanges(
  { clock, reporter, diskSpace }: ContinuousIndexing,
  maintainer: InverseMaintainer,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await diskSpace?.wait(signal)
    if (await maintainer.step()) reporter.progress({ ...maintainer.progress })
    else await clock.wait(POLL_MS, signal)
  }
  signal.throwIfAborted()
}

function withMaintainer<Result>(
  { store, holder, clock }: InverseIndexing,
  signal: AbortSignal,
  work: (maintainer: InverseMaintainer, signal: AbortSignal) => Promise<Result>,
): Promise<{ result: Result } | null> {
  return withNamedLock('inverse', { jobs: store.jobs, holder, clock }, signal, (lock) =>
    work(new InverseMaintainer(store.inverseIndex, lock), lock.signal),
  )
}

export class InverseMaintainer {
  readonly progress: InverseIndexProgress = { share: 0, runs: 0, blocks: 0 }
  readonly #index: InverseIndexStore
  readonly #lock: HeldLock
  /** Merges in progress with their runs, the largest first. */
  readonly #merges: { runs: ReadonlySet<number>; portions: AsyncGenerator<void, void> }[] = []
  /** Whether blocks of replaced runs may be left. */
  #needsCleanup = true

  constructor(index: InverseIndexStore, lock: HeldLock) {
    this.#index = index
    this.#lock = lock
  }

  /** Replaces the whole index: the next steps fill it in again. */
  async restart(): Promise<void> {
    this.#held(await this.#index.restart(this.#lock.hold))
    this.progress.share = 0
  }

  /**
   * Does the next piece of work, within a fraction of a second. Returns false if there was none. Throws if the lock is
   * lost.
   */
  async step(): Promise<boolean> {
    await yieldToEventLoop() // an engine may answer without yielding to the event loop
    const isFilling = await this.#fill()
    const isMerging = await this.#advanceMerges()
    const isCleaning = this.#needsCleanup
    if (isCleaning)
      this.#needsCleanup = this.#held(await this.#index.removeReplaced(this.#lock.hold, BLOCKS_PER_CLEANUP))
    return isFilling || isMerging || isCleaning
  }

  /** Merges while there are so many runs that a look-up would take long. */
  async keepUp(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await this.#index.runs()).length > MAX_RUNS) await this.step()
  }

  /** Returns true if there were names to add. */
  async #fill(): Promise<boolean> {
    if (this.progress.share === 1) return false
    this.progress.share = this.#held(await this.#index.fill(this.#lock.hold, NAMES_PER_FILL)).share
    return true
  }

  /**
   * Starts a merge if one is due beside those in progress, and continues the one that was started last. A large merge
   * takes hours, and new runs must not accumulate during that time. Returns true if there was one.
   */
  async #advanceMerges(): Promise<boolean> {
    const published = await this.#index.runs()
    this.progress.runs = published.length
    const merged = runsToMerge(published.filter(({ number }) => !this.#merges.some(({ runs }) => runs.has(number))))
    if (merged.length > 0) this.#merges.push({ runs: new Set(merged), portions: this.#mergePortions(merged) })
    const merge = this.#merges.at(-1)
    if (merge === undefined) return false
    if ((await merge.portions.next()).done) this.#merges.pop()
    return true
  }

  /** Merges runs into one, and yields after each transaction. */
  async *#mergePortions(runs: readonly number[]): AsyncGenerator<void, void> {
    const { hold } = this.#lock
    const run = this.#held(await this.#index.beginRun(hold))
    const initialBlocks = Math.max(2, Math.floor(BLOCKS_PER_PORTION / runs.length))
    let count = initialBlocks
    for (let from = Buffer.alloc(0); ; yield) {
      const { slices, erasures } = await this.#index.portion(runs, from, count)
      const writer = new BlockWriter()
      for (const { key, keyLength, events, shared } of entriesOfPortion(slices, from))
        writer.add(key, keyLength, events, events.length, shared)
      const blocks = writer.take(true)
      const isCurrent = blocks.length === 0 || this.#held(await this.#index.writeBlocks(hold, run, blocks, erasures))
      if (!isCurrent) continue
      this.progress.blocks += blocks.length
      const end = portionEnd(slices)
      if (end === null) break
      if (compareKeys(end, end.length, from, from.length) > 0) {
        from = Buffer.from(end)
        count = initialBlocks
      } else if (count < MAX_GROWN_BLOCKS) count *= 8
      else throw new RangeError('an entry of the inverse index has too many events')
    }
    this.#held(await this.#index.publishRun(hold, run, runs))
    this.#needsCleanup = true
  }

  /** Returns the result of a write. Throws if the lock is lost. */
  #held<Result>(result: Result | null): Result {
    if (result === null) throw this.#lock.markLost()
    return result
  }
}

/**
 * Keeps the number of runs within bounds beside a writer, if no other process maintains the index: `work` calls `keepUp`
 * after each batch. Fewer runs are left as they are, because merging them costs more than a few look-ups gain.
 */
export async function withInverseMaintenance<Result>(
  indexing: InverseIndexing,
  signal: AbortSignal,
  work: (keepUp: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const ran = await withMaintainer(indexing, signal, (maintainer, until) => work(() => maintainer.keepUp(until)))
  return ran === null ? work(async () => {}) : ran.result
}

/**
 * The runs of one size and the smaller ones, if they are many; of several such sizes the smallest. A run is rewritten
 * only with others that together have a quarter of its bytes, so that each byte is rewritten a few times at each size.
 */
export function runsToMerge(runs: readonly InverseRun[]): number[] {
  const sizeOf = ({ bytes }: InverseRun): number =>
    Math.max(0, Math.floor(Math.log(bytes / SMALL_RUN_BYTES) / Math.log(SIZE_STEP)) + 1)
  const sizes = [...new Set(runs.map(sizeOf))].sort((a, b) => a - b)
  for (const size of sizes) {
    const smallestFirst = runs.filter((run) => sizeOf(run) <= size).sort((a, b) => a.bytes - b.bytes)
    const merged = smallestFirst.slice(0, MAX_MERGED_RUNS)
    if (merged.length < MERGED_RUNS) continue
    const others = merged.slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0)
    if (SIZE_STEP * others >= merged.at(-1)!.bytes || size === 0) return merged.map(({ number }) => number)
  }
  return []
}
