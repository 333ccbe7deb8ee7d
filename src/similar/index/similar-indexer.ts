/**
 * The work on the index, step by step: files pages that wait, makes a segment of what is new, merges segments, sweeps
 * old ones.
 */

import type { HeldLock } from '../../store/named-lock.ts'
import type { Segment } from '../../store/port/similar.ts'
import type { Store } from '../../store/port/store.ts'
import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import type { Instant } from '../../values/time.ts'
import { createIdfCache, type IdfCache } from '../query/idf-cache.ts'
import { documentOfPage } from './document-of-page.ts'
import { gatherPostings, MAX_SEGMENT_DOCUMENTS, readNewDocuments } from './gather-postings.ts'
import { MOST_SEGMENTS, segmentsToMerge } from './merge-plan.ts'
import { mergeSegments } from './merge-segments.ts'
import { SegmentWriter } from './segment-writer.ts'
import { Tombstones } from './tombstones.ts'

/** Pages filed since it began, whether more are known to wait, and the wordings that answer. */
export type IndexProgress = { indexed: number; hasPending: boolean; documents: number }

/** Pages filed in one transaction. */
const PAGES_PER_TRANSACTION = 256
/** Rows of old segments removed in one step and transaction: more than merges replace meanwhile. */
const ROWS_PER_CLEANUP = 5000
/** Wordings that are gone, read or struck off at once. */
const TOMBSTONES_PER_READ = 5000
/** Portions of merges in one step: merging keeps up with filing. */
const BATCHES_PER_STEP = 4
/** Seconds between two notes of how far the index has followed, where nothing else happens. */
const WATERMARK_INTERVAL_SECONDS = 2

export class SimilarIndexer {
  readonly progress: IndexProgress = { indexed: 0, hasPending: false, documents: 0 }
  private readonly store: Pick<Store, 'similar' | 'similarIndex' | 'now'>
  private readonly lock: HeldLock
  private readonly idfCache: IdfCache
  /** Merges that go on, each of segments behind those of the one before it. */
  private readonly merges: { last: number; batches: AsyncGenerator<void, void> }[] = []
  /** Pages filed since a segment was made of what was new. */
  private pagesSinceSegment = Number.POSITIVE_INFINITY
  /** The pages that were filed last, and when they were asked for. */
  private lastBatch: { ids: ReadonlySet<number>; requestedAt: Instant } = {
    ids: new Set(),
    requestedAt: Number.NEGATIVE_INFINITY,
  }
  private indexedUntil = Number.NEGATIVE_INFINITY
  /** Whether rows of old segments may be left. */
  private needsCleanup = true

  constructor(store: Pick<Store, 'similar' | 'similarIndex' | 'now'>, lock: HeldLock) {
    this.store = store
    this.lock = lock
    this.idfCache = createIdfCache(store.similar, Date.now)
  }

  /** Does what comes next, a part of a second; false where there was nothing to do. Throws where the duty is lost. */
  async step(): Promise<boolean> {
    await yieldToEventLoop() // an engine may answer without ever leaving the event loop a turn
    const segmentsBefore = await this.store.similar.segments()
    const hasCapacity = segmentsBefore.length < MOST_SEGMENTS
    const filed = hasCapacity && (await this.indexPages())
    const isDue =
      this.pagesSinceSegment >= MAX_SEGMENT_DOCUMENTS || (this.pagesSinceSegment > 0 && !this.progress.hasPending)
    const flushed = hasCapacity && isDue && (await this.writeSegment(segmentsBefore.at(-1)?.last ?? 0))
    const segments = flushed ? await this.store.similar.segments() : segmentsBefore
    this.progress.documents = segments.reduce((sum, { documents }) => sum + documents, 0)
    const merged = await this.advanceMerges(segments)
    const swept = await this.cleanUp()
    return filed || flushed || merged || swept
  }

  /** Files some pages; true where there were any. */
  private async indexPages(): Promise<boolean> {
    const requestedAt = await this.store.now()
    const pages = await this.store.similarIndex.pending(PAGES_PER_TRANSACTION)
    this.progress.hasPending = pages.length === PAGES_PER_TRANSACTION
    const isDone =
      !this.progress.hasPending && this.pagesSinceSegment === 0 && pages.every(({ id }) => !this.lastBatch.ids.has(id))
    if (isDone) await this.advanceWatermark(this.lastBatch.requestedAt)
    this.lastBatch = { ids: new Set(pages.map(({ id }) => id)), requestedAt }
    if (pages.length === 0) return false
    this.requireWritten(await this.store.similarIndex.filePages(this.lock.hold, pages.map(documentOfPage)))
    this.progress.indexed += pages.length
    this.pagesSinceSegment += pages.length
    return true
  }

  /** Notes, now and then, that all of before then is in the index, and drops what forgotten names said alone. */
  private async advanceWatermark(until: Instant): Promise<void> {
    if (until < this.indexedUntil + WATERMARK_INTERVAL_SECONDS && until >= this.indexedUntil) return
    this.requireWritten(await this.store.similarIndex.filePages(this.lock.hold, []))
    this.requireWritten(await this.store.similarIndex.setIndexedUntil(this.lock.hold, until))
    this.indexedUntil = until
  }

  /** Makes a segment of wordings that no segment has; true where there were any. */
  private async writeSegment(end: number): Promise<boolean> {
    const { documents, isFull } = await readNewDocuments(this.store.similarIndex, end)
    this.pagesSinceSegment = isFull ? MAX_SEGMENT_DOCUMENTS : 0
    if (documents.length === 0) return false
    await this.purgeTombstonesAfter(end)
    const { segment, writer } = await this.beginSegment(documents[0]!.document, documents.at(-1)!.document)
    for (const { term, groups, count } of gatherPostings(documents, (await this.idfCache.current()).idfTable)) {
      writer.add(term, groups, count)
      if (writer.isFull) await writer.flush()
    }
    await writer.end()
    this.requireWritten(await this.store.similarIndex.publishSegment(this.lock.hold, segment, documents.length))
    return true
  }

  /**
   * Strikes off what was noted as gone on account of segments that were begun behind the last one, and never published.
   */
  private async purgeTombstonesAfter(end: number): Promise<void> {
    for (let after = end; ; ) {
      const tombstones = await this.store.similarIndex.tombstones(after, Number.MAX_SAFE_INTEGER, TOMBSTONES_PER_READ)
      if (tombstones.length === 0) return
      this.requireWritten(await this.store.similarIndex.removeTombstones(this.lock.hold, tombstones))
      after = tombstones.at(-1)!
    }
  }

  /**
   * Begins a merge where one is due behind those that go on, and goes on with the last, smallest one: a large one takes
   * hours, and what comes in meanwhile must not pile up. True where there was any.
   */
  private async advanceMerges(segments: readonly Segment[]): Promise<boolean> {
    const last = this.merges.at(-1)?.last ?? Number.NEGATIVE_INFINITY
    const isBusy = this.progress.hasPending || this.pagesSinceSegment >= MAX_SEGMENT_DOCUMENTS
    const parts = segmentsToMerge(
      segments.filter(({ first }) => first > last),
      isBusy ? 'busy' : 'idle',
    )
    if (parts.length > 0) this.merges.push({ last: parts.at(-1)!.last, batches: this.mergeParts(parts) })
    if (this.merges.length === 0) return false
    for (let portion = 0; portion < BATCHES_PER_STEP && this.merges.length > 0; portion++)
      if ((await this.merges.at(-1)!.batches.next()).done) this.merges.pop()
    return true
  }

  /**
   * Makes one segment of several; yields whenever something else may have its turn. Where it ends before all that is
   * gone was struck off, the rest is noted in vain, until the next merge.
   */
  private async *mergeParts(parts: readonly Segment[]): AsyncGenerator<void, void> {
    const { similar, similarIndex: indexing } = this.store
    const [first, last] = [parts[0]!.first, parts.at(-1)!.last]
    const tombstones = yield* this.readTombstones(first, last)
    const { segment, writer } = await this.beginSegment(first, last)
    const numbers = parts.map((part) => part.segment)
    const source = {
      frequencies: similar.frequencies.bind(similar),
      rows: indexing.rows.bind(indexing),
    }
    yield* mergeSegments(source, numbers, tombstones, writer)
    const documents = parts.reduce((sum, part) => sum + part.documents, -tombstones.found)
    this.requireWritten(await indexing.publishSegment(this.lock.hold, segment, Math.max(0, documents)))
    this.needsCleanup = true
    for (const purged of tombstones.batches(TOMBSTONES_PER_READ)) {
      yield
      this.requireWritten(await indexing.removeTombstones(this.lock.hold, purged))
    }
  }

  private async *readTombstones(first: number, last: number): AsyncGenerator<void, Tombstones> {
    const tombstones = new Tombstones()
    for (let after = first - 1; ; yield) {
      const some = await this.store.similarIndex.tombstones(after, last, TOMBSTONES_PER_READ)
      tombstones.add(some)
      if (some.length < TOMBSTONES_PER_READ) return tombstones
      after = some.at(-1)!
    }
  }

  private async beginSegment(first: number, last: number): Promise<{ segment: number; writer: SegmentWriter }> {
    const { hold: fence, markLost: lose } = this.lock
    const segment = await this.store.similarIndex.beginSegment(fence, first, last)
    if (segment === null) throw lose()
    const writer = new SegmentWriter(async (postings, frequencies) => {
      this.requireWritten(await this.store.similarIndex.writeRows(fence, segment, postings, frequencies))
      await yieldToEventLoop()
    })
    return { segment, writer }
  }

  private async cleanUp(): Promise<boolean> {
    if (this.needsCleanup)
      this.needsCleanup = await this.store.similarIndex.removeReplaced(this.lock.hold, ROWS_PER_CLEANUP)
    return this.needsCleanup
  }

  private requireWritten(written: boolean): void {
    if (!written) throw this.lock.markLost()
  }
}
