/** The work on the index, step by step: files pages that wait, makes a segment of what is new, merges segments, sweeps old ones. */

import { digestOfVector, packVector, vectorOf } from '../similar/vector.ts'
import type { Hand } from '../store/duty.ts'
import type { Filing, PendingPage, Segment } from '../store/similar.ts'
import type { Store } from '../store/store.ts'
import type { Instant } from '../words/time.ts'
import { FRESH, gather } from './gather.ts'
import { merge } from './merge.ts'
import { mergeOf } from './plan.ts'
import { keepRarities } from './rarity-keeper.ts'
import { SegmentWriter } from './segment-writer.ts'

/** Pages filed since it began, whether more are known to wait, and the wordings that answer. */
export type Progress = { filed: number; waiting: boolean; wordings: number }

export type Indexer = {
  /** Does what comes next, a part of a second; false where there was nothing to do. Throws where the duty is lost. */
  step(): Promise<boolean>
  progress(): Progress
}

/** Pages filed in one transaction. */
const PAGES = 256
/** Rows of old segments removed in one transaction. */
const SWEPT = 2000
/** Portions of a merge in one step: merging keeps up with filing. */
const PORTIONS = 4
/** Seconds between two notes of how far the index has followed, where nothing else happens. */
const BEAT = 2
/** With so many segments nothing is filed until some are merged: a query reads all of them. */
const MOST_SEGMENTS = 24

type Site = Pick<Store, 'similar' | 'indexing' | 'now'>
/** A merge under way: false from `next` when it is done. */
type Merging = { next(): Promise<boolean> }

export function openIndexer(store: Site, { hold, lose }: Hand): Indexer {
  const { similar, indexing } = store
  const rarities = keepRarities(similar, () => performance.now())
  const progress: Progress = { filed: 0, waiting: false, wordings: 0 }
  let merging: Merging | null = null
  /** Pages filed since a segment was made of what was new. */
  let unread = Number.POSITIVE_INFINITY
  let followed = Number.NEGATIVE_INFINITY
  /** Whether rows of old segments may be left. */
  let unswept = true

  const sure = (written: boolean): void => {
    if (!written) throw lose()
  }
  const writerOf = (segment: number): SegmentWriter =>
    new SegmentWriter((postings, frequencies) => indexing.write(hold, segment, postings, frequencies))

  async function begin(first: number, last: number): Promise<number> {
    const segment = await indexing.begin(hold, first, last)
    if (segment === null) throw lose()
    return segment
  }

  /** Files some pages; true where there were any. */
  async function file(): Promise<boolean> {
    const pages = await indexing.pending(PAGES)
    if (pages.length > 0) sure(await indexing.file(hold, pages.map(filingOf)))
    progress.filed += pages.length
    progress.waiting = pages.length === PAGES
    unread += pages.length
    return pages.length > 0
  }

  /** Makes a segment of wordings that no segment has; true where there were any. */
  async function flush(end: number): Promise<boolean> {
    const wordings = await indexing.wordings(end, FRESH)
    unread = wordings.length === FRESH ? FRESH : 0
    if (wordings.length === 0) return false
    const segment = await begin(wordings[0]!.wording, wordings.at(-1)!.wording)
    const writer = writerOf(segment)
    for (const { word, groups, count } of gather(wordings, await rarities.now())) {
      writer.add(word, groups, count)
      if (writer.isFull) sure(await writer.flush())
    }
    sure(await writer.end())
    sure(await indexing.publish(hold, segment, wordings.length, []))
    return true
  }

  async function beginMerge(parts: readonly Segment[]): Promise<Merging> {
    const [first, last] = [parts[0]!.first, parts.at(-1)!.last]
    const gone = await indexing.gone(first, last)
    const segment = await begin(first, last)
    const numbers = parts.map((part) => part.segment)
    const steps = merge({ ...similar, ...indexing }, numbers, new Set(gone), writerOf(segment))
    const wordings = parts.reduce((sum, part) => sum + part.wordings, -gone.length)
    return {
      async next() {
        const { done, value } = await steps.next()
        if (!done) return true
        sure(value)
        sure(await indexing.publish(hold, segment, Math.max(0, wordings), gone))
        unswept = true
        return false
      },
    }
  }

  /** Goes on with a merge, or begins the next; true where there was one. */
  async function mergeSome(segments: readonly Segment[]): Promise<boolean> {
    if (merging === null) {
      const parts = mergeOf(segments, progress.waiting ? 'busy' : 'idle')
      if (parts.length === 0) return false
      merging = await beginMerge(parts)
    }
    for (let portion = 0; portion < PORTIONS; portion++) {
      if (await merging.next()) continue
      merging = null
      break
    }
    return true
  }

  /** Notes that everything up to `now` is in the index, and drops what forgotten names said alone. */
  async function note(now: Instant): Promise<void> {
    sure(await indexing.file(hold, []))
    sure(await indexing.follow(hold, now))
    followed = now
  }

  async function sweep(): Promise<boolean> {
    if (unswept) unswept = await indexing.sweep(hold, SWEPT)
    return unswept
  }

  return {
    async step() {
      const now = await store.now()
      const before = await similar.segments()
      const filed = before.length < MOST_SEGMENTS && (await file())
      const isDue = unread >= FRESH || (unread > 0 && !progress.waiting)
      const fresh = isDue && (await flush(before.at(-1)?.last ?? 0))
      if (!progress.waiting && unread === 0 && (filed || fresh || now - followed >= BEAT || now < followed))
        await note(now)
      const segments = await similar.segments()
      progress.wordings = segments.reduce((sum, { wordings }) => sum + wordings, 0)
      const merged = await mergeSome(segments)
      const swept = await sweep()
      return filed || fresh || merged || swept
    },
    progress: () => ({ ...progress }),
  }
}

/** What a page is filed under: the wording of its words, or none where it has no word. */
function filingOf({ id, name, digest, terms }: PendingPage): Filing {
  const vector = vectorOf(terms)
  if (vector.size === 0) return { id, name, digest, filed: null }
  const packed = packVector(vector)
  return { id, name, digest, filed: { key: digestOfVector(packed), vector: packed } }
}
