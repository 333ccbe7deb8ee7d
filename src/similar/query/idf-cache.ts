/**
 * Caches the IDF table of a process. It is rebuilt when the index changes, and all processes switch at the same time.
 */

import type { WaitClock } from '../../store/named-lock.ts'
import type { Segment, SimilarReader } from '../../store/port/similar.ts'
import { buildIdfTable } from './build-idf-table.ts'
import type { IdfTable } from './idf-table.ts'

/** Up to this many documents, a query waits for the current table, so that its result depends on the index alone. */
export const MAX_SYNCHRONOUS_DOCUMENTS = 20_000
/**
 * If the index has grown by more than this factor and `refresh` does not run, a query waits too. The old table says
 * little about the new documents.
 */
const MAX_GROWTH_FACTOR = 2
/** Milliseconds between two checks of the segments. */
const POLL_MS = 1_000
/**
 * Larger indexes are rebuilt at every check up to this size, at every second check up to twice this size, and so on.
 */
const DOCUMENTS_PER_POLL = 100_000

type IdfSource = Pick<SimilarReader, 'segments' | 'frequencies'>

/** `isCurrent`: whether the table covers exactly the current segments. */
export type CurrentIdf = { idfTable: IdfTable; isCurrent: boolean }

export type IdfCache = {
  /**
   * Returns the table in use. Waits if there is none, if the index is small, or if it has more than doubled while
   * `refresh` does not run.
   */
  current(): Promise<CurrentIdf>
  /** Rebuilds the table when the index changes, even without queries, until the signal aborts. No error ends it. */
  refresh(clock: WaitClock, signal: AbortSignal): Promise<void>
}

/**
 * A table of all segments in `key`. `key` is null if a segment was removed before it was read twice. `from`: the time
 * from which the table is in use.
 */
type IdfGeneration = { idfTable: IdfTable; key: string | null; from: number }

/** A table that lacks a larger share of the documents, because segments were removed meanwhile, is built again. */
const MAX_MISSING_SHARE = 1 / 100
/** The maximum number of attempts. */
const MAX_BUILD_TRIES = 3

/**
 * `now`: the time in milliseconds of a clock that all processes share. `maxSynchronous`: the size up to which an index
 * is small.
 */
export function createIdfCache(
  similar: IdfSource,
  now: () => number,
  maxSynchronous = MAX_SYNCHRONOUS_DOCUMENTS,
): IdfCache {
  const cache = new IdfCacheImpl(similar, now, maxSynchronous)
  return { current: () => cache.currentIdf(), refresh: (clock, signal) => cache.refresh(clock, signal) }
}

class IdfCacheImpl {
  private readonly similar: IdfSource
  private readonly nowMs: () => number
  private readonly maxSynchronous: number
  private current: IdfGeneration | null = null
  private next: IdfGeneration | null = null
  private building: Promise<IdfGeneration> | null = null
  /** When the last build started. */
  private startedAt = Number.NEGATIVE_INFINITY
  private isRefreshing = false

  constructor(similar: IdfSource, now: () => number, maxSynchronous: number) {
    this.similar = similar
    this.nowMs = now
    this.maxSynchronous = maxSynchronous
  }

  async currentIdf(): Promise<CurrentIdf> {
    for (let tries = 1; ; tries++) {
      const segments = await this.similar.segments()
      const key = segmentsKey(segments)
      const used = this.activeGeneration()
      if (used?.key === key) return { idfTable: used.idfTable, isCurrent: true }
      if (used !== null && (!this.mustWait(segments, used) || tries > MAX_BUILD_TRIES)) {
        if (!this.isRefreshing && this.isPeriodOver(refreshPeriodMs(segments))) this.build(0).catch(() => {})
        return { idfTable: used.idfTable, isCurrent: false }
      }
      if (this.next?.key === key) this.next.from = 0
      else await this.build(0)
    }
  }

  async refresh(clock: WaitClock, signal: AbortSignal): Promise<void> {
    this.isRefreshing = true
    while (!signal.aborted) {
      await clock.wait(POLL_MS - (this.nowMs() % POLL_MS), signal)
      if (!signal.aborted) await this.poll().catch(() => {}) // a query at this time reports the error
    }
    this.isRefreshing = false
  }

  /**
   * Processes that check at the same time build the same table. They switch to it at the same time, one period later.
   */
  private async poll(): Promise<void> {
    const polledAt = Math.floor(this.nowMs() / POLL_MS) * POLL_MS
    const segments = await this.similar.segments()
    const period = refreshPeriodMs(segments)
    const used = this.activeGeneration()
    const newest = this.next ?? used
    if (newest?.key === segmentsKey(segments) || polledAt % period !== 0) return
    await this.build(this.isSmall(segments) || newest === null ? 0 : polledAt + period)
  }

  private activeGeneration(): IdfGeneration | null {
    if (this.next !== null && this.nowMs() >= this.next.from) [this.current, this.next] = [this.next, null]
    return this.current
  }

  /** While `refresh` runs, all processes use the same table instead of the newest one. */
  private mustWait(segments: readonly Segment[], { idfTable }: IdfGeneration): boolean {
    return (
      this.isSmall(segments) || (!this.isRefreshing && MAX_GROWTH_FACTOR * idfTable.documents < documentsIn(segments))
    )
  }

  private isSmall(segments: readonly Segment[]): boolean {
    return documentsIn(segments) <= this.maxSynchronous
  }

  private isPeriodOver(period: number): boolean {
    const passed = this.nowMs() - this.startedAt
    return passed >= period || passed < 0
  }

  /** Runs one build at a time, for all callers. */
  private build(from: number): Promise<IdfGeneration> {
    this.building ??= this.buildNow(from).finally(() => {
      this.building = null
    })
    return this.building
  }

  private async buildNow(from: number): Promise<IdfGeneration> {
    this.startedAt = this.nowMs()
    const [idfTable, complete] = await buildCompleteIdf(this.similar)
    this.next = { idfTable, key: complete && segmentsKey(complete), from }
    return this.next
  }
}

/**
 * Returns the table and its segments. The segments are null if one was removed before it was read twice, so that terms
 * may be missing.
 */
async function buildCompleteIdf(similar: IdfSource): Promise<[IdfTable, readonly Segment[] | null]> {
  for (let tries = 1; ; tries++) {
    const segments = await similar.segments()
    const built = await buildIdfTable(similar, segments)
    const remaining = new Set((await similar.segments()).map(({ segment }) => segment))
    const removed = segments.filter(({ segment }) => !remaining.has(segment))
    if (removed.length === 0) return [built, segments]
    if (tries === MAX_BUILD_TRIES || documentsIn(removed) < MAX_MISSING_SHARE * documentsIn(segments))
      return [built, null]
  }
}

/** Milliseconds, a multiple of POLL_MS. */
function refreshPeriodMs(segments: readonly Segment[]): number {
  return POLL_MS * Math.max(1, Math.ceil(documentsIn(segments) / DOCUMENTS_PER_POLL))
}

function documentsIn(segments: readonly Segment[]): number {
  return segments.reduce((sum, { documents }) => sum + documents, 0)
}

function segmentsKey(segments: readonly Segment[]): string {
  return segments.map(({ segment }) => segment).join(' ')
}
