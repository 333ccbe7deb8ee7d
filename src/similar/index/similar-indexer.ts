/** Maintains the index step by step: files pending pages, writes segments, merges them and removes old ones. */

import type { HeldLock } from '../../store/named-lock.ts'
import type { PageFiling, PendingPage, Segment } from '../../store/port/similar.ts'
import type { Store } from '../../store/port/store.ts'
import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import type { Instant } from '../../values/time.ts'
import { createIdfCache, type IdfCache } from '../query/idf-cache.ts'
import { packTermVector, termVectorOf, vectorDigest } from '../text/term-vector.ts'
import { gatherPostings, MAX_SEGMENT_DOCUMENTS, readNewDocuments } from './gather-postings.ts'
import { mergeSegments } from './merge-segments.ts'
import { SegmentWriter } from './segment-writer.ts'
import { Tombstones } from './tombstones.ts'

/** Segments with at most this many documents in total are always merged. */
const MIN_SEGMENT_DOCUMENTS = 64

/** At this many segments, indexing waits for a merge, because a query reads all segments. */
export const MAX_SEGMENTS = 32

/** A segment is merged with the following ones if its size is at most this multiple of theirs. */
const MERGE_RATIO = { busy: 1 / 3, idle: 4 } as const

/** Pages filed since the start, whether more are known to wait, and the number of documents in the index. */
export type IndexProgress = { indexed: number; hasPending: boolean; documents: number }

/** Pages filed in one transaction. */
const PAGES_PER_TRANSACTION = 256
/** Rows of old segments removed in one step and transaction, more than merges replace in that time. */
const ROWS_PER_CLEANUP = 5000
/** Deleted documents read or removed at once. */
const TOMBSTONES_PER_READ = 5000
/** Documents counted at once. */
const DOCUMENTS_PER_COUNT = 10_000
/** Merge batches per step, so that merging keeps up with indexing. */
const BATCHES_PER_STEP = 4
/** Seconds between two updates of the watermark if nothing else happens. */
const WATERMARK_INTERVAL_SECONDS = 2

type Counted = Awaited<ReturnType<Store['similarIndex']['countDocuments']>>

export class SimilarIndexer {
  readonly progress: IndexProgress = { indexed: 0, hasPending: false, documents: 0 }
  private readonly store: Pick<Store, 'similar' | 'similarIndex' | 'now'>
  private readonly lock: HeldLock
  private readonly idfCache: IdfCache
  /** Merges in progress. Each one covers segments after those of the merge before it. */
  private readonly merges: { last: number; batches: AsyncGenerator<void, void> }[] = []
  /** Pages filed since the last segment was written. */
  private pagesSinceSegment = Number.POSITIVE_INFINITY
  /** The last batch of filed pages, and when it was requested. */
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

  /** Replaces the whole index: the next steps index every document again. */
  async restart(): Promise<void> {
    if (!(await this.store.similarIndex.restart(this.lock.hold))) throw this.lock.markLost()
  }

  /**
   * Does the next piece of work, within a fraction of a second. Returns false if there was none. Throws if the lock is
   * lost.
   */
  async step(): Promise<boolean> {
    await yieldToEventLoop() // an engine may answer without yielding to the event loop
    const segmentsBefore = await this.store.similar.segments()
    const hasCapacity = segmentsBefore.length < MAX_SEGMENTS
    const filed = hasCapacity && (await this.indexPages())
    const isDue =
      this.pagesSinceSegment >= MAX_SEGMENT_DOCUMENTS || (this.pagesSinceSegment > 0 && !this.progress.hasPending)
    const flushed = hasCapacity && isDue && (await this.writeSegment(segmentsBefore.at(-1)?.last ?? 0))
    const segments = flushed ? await this.store.similar.segments() : segmentsBefore
    this.progress.documents = segments.reduce((sum, { documents }) => sum + documents, 0)
    const merged = await this.advanceMerges(segments)
    const cleaned = await this.cleanUp()
    return filed || flushed || merged || cleaned
  }

  /** Files some pages. Returns true if there were any. */
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

  /**
   * Records now and then that the index contains everything before `until`, and removes documents of forgotten names.
   */
  private async advanceWatermark(until: Instant): Promise<void> {
    if (until < this.indexedUntil + WATERMARK_INTERVAL_SECONDS && until >= this.indexedUntil) return
    this.requireWritten(await this.store.similarIndex.filePages(this.lock.hold, []))
    this.requireWritten(await this.store.similarIndex.setIndexedUntil(this.lock.hold, until))
    this.indexedUntil = until
  }

  /** Writes a segment of the documents that no segment contains. Returns true if there were any. */
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

  /** Removes the tombstones of segments that were started after the last one and never published. */
  private async purgeTombstonesAfter(end: number): Promise<void> {
    for (let after = end; ; ) {
      const tombstones = await this.store.similarIndex.tombstones(after, Number.MAX_SAFE_INTEGER, TOMBSTONES_PER_READ)
      if (tombstones.length === 0) return
      this.requireWritten(await this.store.similarIndex.removeTombstones(this.lock.hold, tombstones))
      after = tombstones.at(-1)!
    }
  }

  /**
   * Starts a merge if one is due after those in progress, and continues the last and smallest one. A large merge takes
   * hours, and new segments must not accumulate during that time. Returns true if a merge was in progress.
   */
  private async advanceMerges(segments: readonly Segment[]): Promise<boolean> {
    const last = this.merges.at(-1)?.last ?? Number.NEGATIVE_INFINITY
    const isBusy = this.progress.hasPending || this.pagesSinceSegment >= MAX_SEGMENT_DOCUMENTS
    const merged = segmentsToMerge(
      segments.filter(({ first }) => first > last),
      isBusy ? 'busy' : 'idle',
    )
    if (merged.length > 0) this.merges.push({ last: merged.at(-1)!.last, batches: this.mergeParts(merged) })
    if (this.merges.length === 0) return false
    for (let portion = 0; portion < BATCHES_PER_STEP && this.merges.length > 0; portion++)
      if ((await this.merges.at(-1)!.batches.next()).done) this.merges.pop()
    return true
  }

  /**
   * Merges several segments into one, and yields so that other work can run. If it ends before all tombstones are
   * removed, the rest has no effect until the next merge.
   */
  private async *mergeParts(merged: readonly Segment[]): AsyncGenerator<void, void> {
    const { similar, similarIndex } = this.store
    const [first, last] = [merged[0]!.first, merged.at(-1)!.last]
    const tombstones = yield* this.readTombstones(first, last)
    const { segment, writer } = await this.beginSegment(first, last)
    const numbers = merged.map((part) => part.segment)
    const source = {
      frequencies: similar.frequencies.bind(similar),
      rows: similarIndex.rows.bind(similarIndex),
    }
    yield* mergeSegments(source, numbers, tombstones, writer)
    const documents = yield* this.countDocuments(first, last)
    this.requireWritten(await similarIndex.publishSegment(this.lock.hold, segment, documents))
    this.needsCleanup = true
    for (const purged of tombstones.batches(TOMBSTONES_PER_READ)) {
      yield
      this.requireWritten(await similarIndex.removeTombstones(this.lock.hold, purged))
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

  /** Documents that are deleted from now on have a tombstone, which says that the segment counts them. */
  private async *countDocuments(first: number, last: number): AsyncGenerator<void, number> {
    let total = 0
    for (let after: number | null = first - 1; after !== null; ) {
      const counted: Counted = await this.store.similarIndex.countDocuments(after, last, DOCUMENTS_PER_COUNT)
      total += counted.count
      after = counted.next
      if (after !== null) yield
    }
    return total
  }

  private async beginSegment(first: number, last: number): Promise<{ segment: number; writer: SegmentWriter }> {
    const { hold, markLost } = this.lock
    const segment = await this.store.similarIndex.beginSegment(hold, first, last)
    if (segment === null) throw markLost()
    const writer = new SegmentWriter(async (postings, frequencies) => {
      this.requireWritten(await this.store.similarIndex.writeRows(hold, segment, postings, frequencies))
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

/** Returns the document of the page's terms, or none if the page has no term. */
export function documentOfPage({ id, name, digest, terms }: PendingPage): PageFiling {
  const vector = termVectorOf(terms)
  if (vector.size === 0) return { id, name, digest, document: null }
  const packed = packTermVector(vector)
  return { id, name, digest, document: { key: vectorDigest(packed), vector: packed } }
}

/**
 * Returns the segments to merge, in order, or none. While pages wait, four segments of one size become one. When no
 * page waits, each remaining segment is more than four times as large as all that follow. If there are still too many
 * segments, returns the later half.
 */
export function segmentsToMerge(segments: readonly Segment[], load: keyof typeof MERGE_RATIO): readonly Segment[] {
  let following = 0
  let from = segments.length
  for (let at = segments.length - 1; at >= 0; at--) {
    const { documents } = segments[at]!
    if (following > 0 && (documents <= MERGE_RATIO[load] * following || documents + following <= MIN_SEGMENT_DOCUMENTS))
      from = at
    following += documents
  }
  const merged = segments.slice(from)
  if (merged.length > 1) return merged
  return segments.length < MAX_SEGMENTS ? [] : segments.slice(-MAX_SEGMENTS / 2)
}
