/**
 * Checks the segments of the index of /similar: their states and ranges, that every row belongs to one, that the terms of
 * postings have a document frequency, and the number of documents.
 */

import {
  emptyDocumentFrequencies,
  MAX_ROW_TERMS,
  unpackDocumentFrequencies,
} from '../../../similar/postings/document-frequencies.ts'
import { termOfKey } from '../../../similar/postings/postings.ts'
import type { FrequencyRow, Segment } from '../../port/similar.ts'
import type { CheckFault } from '../../port/store.ts'
import { type CheckSlice, problemReporter, reportIfUnreadable } from './slice.ts'

export type CheckedSegment = { number: number; first: number; last: number; state: string }
/** A segment that has rows in a table. */
export type UsedSegment = { table: string; segment: number }

const SEGMENT_STATES = ['building', 'published', 'replaced']

/** SQL of both engines. `posting` and `document_frequency` begin their keys with the segment, so each step is one look-up. */
export const READ_SEGMENTS = 'select number, first_document as first, last_document as last, state from segment'
export const READ_USED_SEGMENTS = ['posting', 'document_frequency']
  .map(
    (table) => `select '${table}' as "table", segment from (
      with recursive used(segment) as (select min(segment) from ${table} union all
        select (select min(segment) from ${table} where segment > used.segment) from used where used.segment is not null)
      select segment from used where segment is not null) ${table}_segments`,
  )
  .join(' union all ')

/** Begins the index again. Rows that have lost their segment get one, so that they are deleted with it. */
export const REPLACE_SEGMENTS = `update segment set state = 'replaced'`
/** `identity`: what lets the engine store a given number. */
export function addLostSegmentsSql(identity = ''): string {
  return `insert into segment (number, first_document, last_document, documents, state, fence) ${identity}
    select distinct segment, 0, 0, 0, 'replaced', 0 from (${READ_USED_SEGMENTS}) used_segments
    where segment not in (select number from segment)`
}

/** Checks all segments at once, because there are few. */
export function checkSegments(segments: readonly CheckedSegment[], used: readonly UsedSegment[]): CheckSlice {
  const faults: CheckFault[] = []
  const numbers = new Set(segments.map(({ number }) => number))
  for (const { table, segment } of used)
    if (!numbers.has(segment)) problemReporter(faults, table, String(segment))('belongs to no segment')
  for (const { number, state } of segments)
    if (!SEGMENT_STATES.includes(state)) problemReporter(faults, 'segment', String(number))(`has state ${state}`)
  const published = segments.filter(({ state }) => state === 'published').sort((a, b) => a.first - b.first)
  for (const [index, { number, first, last }] of published.entries()) {
    const report = problemReporter(faults, 'segment', String(number))
    if (last < first) report('ends before it begins')
    if (index > 0 && first <= published[index - 1]!.last) report('has documents of another segment')
  }
  return { faults, checked: segments.length, last: null }
}

/** Rows of document frequencies of one slice, each with some hundred terms, for a limit of the check. */
export function frequencyRowsFor(limit: number): number {
  return Math.ceil(limit / 64)
}

/** Where a check of the terms of segments is: the segment, and its last term that was checked. */
export type TermPosition = [segment: number, term: number]
/** The same for the documents: the last document that was counted, and the sums of `CountedDocuments` so far. */
export type DocumentPosition = [segment: number, document: number, living: number, all: number]

/** The position in a segment; `start` if the segment was not begun. */
export function positionIn<Position extends TermPosition | DocumentPosition>(
  position: Position | null,
  { segment }: Pick<Segment, 'segment'>,
  start: Position,
): Position {
  return position !== null && position[0] === segment ? position : start
}

/**
 * Checks that each term of a posting is among the terms of `frequencies`. `keys`: those of the postings after `term`, up
 * to the last term of `frequencies`; up to the end of the segment if these are fewer than `limit`.
 */
export function checkPostedTerms(
  { segment }: Pick<Segment, 'segment'>,
  frequencies: readonly FrequencyRow[],
  keys: readonly number[],
  limit: number,
): CheckSlice {
  const faults: CheckFault[] = []
  const counted = new Set<number>()
  const row = emptyDocumentFrequencies(MAX_ROW_TERMS)
  for (const { last, counts } of frequencies) {
    const report = problemReporter(faults, 'document_frequency', `${segment} ${last}`)
    reportIfUnreadable(report, () => {
      unpackDocumentFrequencies(counts, row)
      for (const term of row.terms.subarray(0, row.size)) counted.add(term)
      if (row.terms[row.size - 1] !== last) report('ends with another term')
    })
  }
  const missing = faults.length > 0 ? undefined : keys.map(termOfKey).find((term) => !counted.has(term))
  if (missing !== undefined)
    problemReporter(faults, 'document_frequency', `${segment} ${missing}`)('lacks a term that has postings')
  const next: TermPosition = frequencies.length < limit ? [segment + 1, -1] : [segment, frequencies.at(-1)!.last]
  return { faults, checked: 0, last: JSON.stringify(next) }
}

/**
 * The documents of a slice of a segment. `living`: those that exist. `all`: with those that were deleted, which the
 * segment may count. `last`: the last document of the slice; null at the end of the segment.
 */
export type CountedDocuments = { living: number; all: number; last: number | null }

/** Adds up the documents of a segment, slice by slice, and compares their number with that of the segment at its end. */
export function checkSegmentDocuments(
  { segment, documents }: Segment,
  [, , formerLiving, formerAll]: DocumentPosition,
  counted: CountedDocuments,
): CheckSlice {
  const faults: CheckFault[] = []
  const [living, all] = [formerLiving + counted.living, formerAll + counted.all]
  if (counted.last === null && (documents < living || documents > all))
    problemReporter(faults, 'segment', String(segment))(`counts ${documents} documents, has ${living}`)
  const next: DocumentPosition = counted.last === null ? [segment + 1, -1, 0, 0] : [segment, counted.last, living, all]
  return { faults, checked: 0, last: JSON.stringify(next) }
}

/** The end of a part that checks segments. */
export const NO_SEGMENT: CheckSlice = { faults: [], checked: 0, last: null }
