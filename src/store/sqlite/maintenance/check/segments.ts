/** Checks the segments of the index of /similar: each, its terms, and its documents. */

import type { DatabaseSync } from 'node:sqlite'
import { termEnd } from '../../../../similar/postings/postings.ts'
import type { FrequencyRow, Segment } from '../../../port/similar.ts'
import {
  type CheckedSegment,
  checkPostedTerms,
  checkSegmentDocuments,
  checkSegments,
  type DocumentPosition,
  frequencyRowsFor,
  NO_SEGMENT,
  positionIn,
  READ_SEGMENTS,
  READ_USED_SEGMENTS,
  type TermPosition,
  type UsedSegment,
} from '../../../shared/check/segments.ts'
import type { CheckSlice } from '../../../shared/check/slice.ts'
import { documentCounter } from '../../similar/indexer.ts'

/** All segments. */
export function checkSegmentsSqlite(database: DatabaseSync): CheckSlice {
  const segments = database.prepare(READ_SEGMENTS).all() as CheckedSegment[]
  return checkSegments(segments, database.prepare(READ_USED_SEGMENTS).all() as UsedSegment[])
}

/** The published segment with this number, or the next one. */
function publishedSegment(database: DatabaseSync, from: number): Segment | undefined {
  const select = database.prepare(
    `select number as segment, first_document as first, last_document as last, documents from segment
     where state = 'published' and number >= ? order by number limit 1`,
  )
  return select.get(from) as Segment | undefined
}

/** The terms of a segment: those of its postings have a document frequency. */
export function checkPostedTermsSqlite(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const position = after === null ? null : (JSON.parse(after) as TermPosition)
  const segment = publishedSegment(database, position?.[0] ?? 0)
  if (segment === undefined) return NO_SEGMENT
  const [number, term] = positionIn<TermPosition>(position, segment, [segment.segment, -1])
  const rows = frequencyRowsFor(limit)
  const frequencies = database
    .prepare(
      'select last_term as last, counts from document_frequency where segment = ? and last_term > ? order by last_term limit ?',
    )
    .all(number, term, rows) as FrequencyRow[]
  const keys = database
    .prepare('select distinct key from posting where segment = ? and key >= ? and key < ? order by key')
    .all(number, termEnd(term), termEnd(frequencies.length < rows ? null : frequencies.at(-1)!.last))
  return checkPostedTerms(
    segment,
    frequencies,
    keys.map(({ key }) => key as number),
    rows,
  )
}

/** The documents of a segment: as many as it counts. */
export function checkSegmentDocumentsSqlite(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const position = after === null ? null : (JSON.parse(after) as DocumentPosition)
  const segment = publishedSegment(database, position?.[0] ?? 0)
  if (segment === undefined) return NO_SEGMENT
  const from = positionIn<DocumentPosition>(position, segment, [segment.segment, segment.first - 1, 0, 0])
  const { count, next } = documentCounter(database)(from[1], segment.last, limit)
  const deleted = database
    .prepare('select count(*) as count from document_tombstone where document > ? and document <= ?')
    .get(from[1], next ?? segment.last)!.count as number
  return checkSegmentDocuments(segment, from, { living: count, all: count + deleted, last: next })
}
