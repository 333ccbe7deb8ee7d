/**
 * The rarities that a process answers by: learnt again when the index has moved on, and put in use by all processes at
 * the same instants.
 */

import type { WaitClock } from '../../store/named-lock.ts'
import type { Segment, SimilarReader } from '../../store/port/similar.ts'
import { buildIdfTable } from './build-idf-table.ts'
import type { IdfTable } from './idf-table.ts'

/** Up to so many wordings they are learnt before the answer: then a number hangs on the index alone. */
export const MAX_SYNCHRONOUS_DOCUMENTS = 20_000
/**
 * With more than so many times the wordings they are learnt before the answer too, if nobody watches: rarities of few
 * say little of many.
 */
const MAX_GROWTH_FACTOR = 2
/** Milliseconds between two looks at the segments. */
const POLL_MS = 1_000
/**
 * Larger indexes are learnt anew at every look up to so many wordings, at every other one up to twice as many, and so
 * on.
 */
const DOCUMENTS_PER_POLL = 100_000

type IdfSource = Pick<SimilarReader, 'segments' | 'frequencies'>

/** `isCurrent`: whether they are those of all segments that answer now. */
export type CurrentIdf = { idfTable: IdfTable; isCurrent: boolean }

export type IdfCache = {
  /**
   * The rarities in use. Waits if none were learnt, if the index is small, and if nobody watches and it has more than
   * doubled.
   */
  current(): Promise<CurrentIdf>
  /**
   * Learns them again as the index moves, whether or not anybody asks, until the signal comes. Nothing that fails ends
   * it.
   */
  refresh(clock: WaitClock, signal: AbortSignal): Promise<void>
}

/**
 * Rarities of all segments of a key; null if a segment went before it had been read twice. `from`: in use from then on.
 */
type IdfGeneration = { idfTable: IdfTable; key: string | null; from: number }

/**
 * What is learnt lacks less than this share of the wordings, those of segments that went meanwhile: with others it is
 * begun anew.
 */
const MAX_MISSING_SHARE = 1 / 100
/** So often, at most. */
const MAX_BUILD_TRIES = 3

/** `now`: milliseconds of the clock that all processes share. `atOnce`: up to so many wordings an index is small. */
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
  /** When learning began last. */
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
      if (!signal.aborted) await this.poll().catch(() => {}) // who asks meanwhile hears of it
    }
    this.isRefreshing = false
  }

  /**
   * Processes that look at the same instant learn the same, and put it in use at the same instant, one period later.
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

  /** Where it is watched, all processes go by the same rarities rather than by the newest. */
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

  /** One learning at a time, whoever asks for it. */
  private build(from: number): Promise<IdfGeneration> {
    this.building ??= this.buildNow(from).finally(() => {
      this.building = null
    })
    return this.building
  }

  private async buildNow(from: number): Promise<IdfGeneration> {
    this.startedAt = this.nowMs()
    const [idfTable, whole] = await buildCompleteIdf(this.similar)
    this.next = { idfTable, key: whole && segmentsKey(whole), from }
    return this.next
  }
}

/** What is learnt, and of which segments where none went before it had been read twice: then it may lack words. */
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

/** Milliseconds, a whole number of looks. */
function refreshPeriodMs(segments: readonly Segment[]): number {
  return POLL_MS * Math.max(1, Math.ceil(documentsIn(segments) / DOCUMENTS_PER_POLL))
}

function documentsIn(segments: readonly Segment[]): number {
  return segments.reduce((sum, { documents }) => sum + documents, 0)
}

function segmentsKey(segments: readonly Segment[]): string {
  return segments.map(({ segment }) => segment).join(' ')
}
