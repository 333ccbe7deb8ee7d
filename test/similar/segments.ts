/** Segments in memory, written by the code for those of a store, and read term by term as a store's are. */

import { gatherPostings, MAX_SEGMENT_DOCUMENTS } from '../../src/similar/index/gather-postings.ts'
import { mergeSegments, type SegmentSource } from '../../src/similar/index/merge-segments.ts'
import { SegmentWriter } from '../../src/similar/index/segment-writer.ts'
import type { Tombstones } from '../../src/similar/index/tombstones.ts'
import { MAX_ROW_POSTINGS, postingKeyOf, readPostingsOfTerm } from '../../src/similar/postings/postings.ts'
import { termCursor } from '../../src/similar/query/build-idf-table.ts'
import type { IdfTable } from '../../src/similar/query/idf-table.ts'
import { packTermVector } from '../../src/similar/text/term-vector.ts'
import { WEIGHT_LEVELS } from '../../src/similar/text/weights.ts'
import type { FrequencyRow, PostingRow, StoredDocument } from '../../src/store/port/similar.ts'

/** Terms with their counts. */
export type Page = ReadonlyMap<number, number>
export type Made = { rows: PostingRow[]; frequencies: FrequencyRow[] }
export type Posting = { wording: number; level: number }

export function documentOf(wording: number, page: Page): StoredDocument {
  const sorted = [...page].sort(([a], [b]) => a - b)
  const [words, counts] = [0, 1].map((place) => Uint32Array.from(sorted, (pair) => pair[place]!))
  return { document: wording, vector: packTermVector({ size: page.size, terms: words!, counts: counts! }) }
}

/** A segment of new documents, ascending, at most as many as one may have. */
export async function flushed(wordings: readonly StoredDocument[], known: IdfTable): Promise<Made> {
  if (wordings.length > MAX_SEGMENT_DOCUMENTS) throw new Error('too many for one segment')
  const { made, writer } = writing()
  for (const { term: word, groups, count } of gatherPostings(wordings, known)) {
    writer.add(word, groups, count)
    if (writer.isFull) await writer.flush()
  }
  await writer.end()
  return made
}

export async function merged(parts: readonly Made[], removed: Tombstones): Promise<Made> {
  const { made, writer } = writing()
  for await (const _ of mergeSegments(
    sourceOf(parts),
    parts.map((_, at) => at),
    removed,
    writer,
  )) {
    // Other work may run here.
  }
  return made
}

export function writing(): { made: Made; writer: SegmentWriter } {
  const made: Made = { rows: [], frequencies: [] }
  const writer = new SegmentWriter(async (rows, frequencies) => {
    made.rows.push(...rows)
    made.frequencies.push(...frequencies)
  })
  return { made, writer }
}

/** Segments numbered by their index. A read returns at most three rows, so that there are several reads. */
function sourceOf(parts: readonly Made[]): SegmentSource {
  const few = <Row>(rows: Row[], limit: number) => rows.slice(0, Math.min(3, limit))
  return {
    frequencies: async (segment, after, limit) =>
      few(
        parts[segment]!.frequencies.filter(({ last }) => last > after),
        limit,
      ),
    rows: async (segment, after, limit) =>
      few(
        parts[segment]!.rows.filter((row) => after === null || isAfter(row, after)),
        limit,
      ),
  }
}

type Key = { key: number; document: number }

export function isAfter(a: Key, b: Key): boolean {
  return a.key > b.key || (a.key === b.key && a.document > b.document)
}

/** The postings of a term in stored order. */
export function postingsOf({ rows }: Made, word: number): Posting[] {
  const read = rows.filter(({ key: place }) => place >= postingKeyOf(word, WEIGHT_LEVELS - 1))
  const room = MAX_ROW_POSTINGS * read.length
  const found = { size: 0, documents: new Float64Array(room), levels: new Uint8Array(room) }
  readPostingsOfTerm(Buffer.concat(read.map(({ postings }) => postings)), word, found)
  return Array.from({ length: found.size }, (_, at) => ({ wording: found.documents[at]!, level: found.levels[at]! }))
}

/** The document frequency of each term. */
export async function frequenciesOf(part: Made): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  const walk = await termCursor(sourceOf([part]), 0)
  while (walk.term < Number.POSITIVE_INFINITY) {
    counts.set(walk.term, walk.count)
    await walk.next()
  }
  return counts
}
