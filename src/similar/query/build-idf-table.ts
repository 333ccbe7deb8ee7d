/** Builds the IDF table from the document frequencies of all segments. */

import { randomInt } from 'node:crypto'
import type { Segment, SimilarReader } from '../../store/port/similar.ts'
import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import {
  type DocumentFrequencies,
  emptyDocumentFrequencies,
  MAX_ROW_TERMS,
  unpackDocumentFrequencies,
} from '../postings/document-frequencies.ts'
import { TERM_COUNT } from '../text/term-vector.ts'
import { DocumentFrequencyHistogram, IdfTable } from './idf-table.ts'

/** Frequency rows per read, some 50 KB. */
const ROWS_PER_READ = 64

/** A cursor over the terms of a segment. */
type TermCursor = {
  /** The current term, or a number above all terms at the end. */
  term: number
  count: number
  /** Advances to the next term. Returns a promise only if more rows must be read. */
  next(): Promise<void> | void
}

/**
 * Builds an IDF table of the given segments in two passes over their terms, without holding them in memory. It yields
 * to the event loop. If a segment is removed during a pass, its remaining terms are left out.
 */
export async function buildIdfTable(
  similar: Pick<SimilarReader, 'frequencies'>,
  segments: readonly Segment[],
): Promise<IdfTable> {
  const histogram = new DocumentFrequencyHistogram()
  await forEachTerm(similar, segments, (_, pages) => histogram.add(pages))
  const documents = segments.reduce((sum, segment) => sum + segment.documents, 0)
  const idfTable = new IdfTable(documents, histogram, 2 * randomInt(TERM_COUNT / 2) + 1)
  await forEachTerm(similar, segments, (word, pages) => idfTable.add(word, pages))
  return idfTable
}

/** Visits every term once, with its document frequency over all segments. */
async function forEachTerm(
  similar: Pick<SimilarReader, 'frequencies'>,
  segments: readonly Segment[],
  callback: (term: number, documentFrequency: number) => void,
): Promise<void> {
  const numbers = segments.map(({ segment }) => segment)
  for (const cursor = await mergedTermCursor(similar, numbers); cursor.term !== Number.POSITIVE_INFINITY; ) {
    callback(cursor.term, cursor.count)
    const more = cursor.next()
    if (more) await more
  }
}

/** Merges the terms of several segments, each term once. */
export async function mergedTermCursor(
  similar: Pick<SimilarReader, 'frequencies'>,
  segments: readonly number[],
): Promise<TermCursor> {
  const cursors = await Promise.all(segments.map((segment) => termCursor(similar, segment)))
  const all: TermCursor = { term: -1, count: 0, next }
  function next(): Promise<void> | void {
    const reading: Promise<void>[] = []
    for (const cursor of cursors) {
      const more = cursor.term === all.term ? cursor.next() : undefined
      if (more) reading.push(more)
    }
    if (reading.length > 0) return Promise.all(reading).then(settle)
    settle()
  }
  function settle(): void {
    all.term = Number.POSITIVE_INFINITY
    all.count = 0
    for (const cursor of cursors) if (cursor.term < all.term) all.term = cursor.term
    for (const cursor of cursors) if (cursor.term === all.term) all.count += cursor.count
  }
  settle()
  return all
}

/** Returns a cursor over a segment's terms, ascending, each with its document frequency. */
export async function termCursor(similar: Pick<SimilarReader, 'frequencies'>, segment: number): Promise<TermCursor> {
  const row: DocumentFrequencies = emptyDocumentFrequencies(MAX_ROW_TERMS)
  let [rows, at, place, last] = [await similar.frequencies(segment, -1, ROWS_PER_READ), 0, -1, -1]
  const cursor: TermCursor = { term: -1, count: 0, next }
  function next(): Promise<void> | void {
    place++
    if (place < row.size) {
      cursor.term = row.terms[place]!
      cursor.count = row.counts[place]!
      return
    }
    if (at < rows.length) return openRow()
    return rows.length === 0 ? end() : readOn()
  }
  function openRow(): void {
    last = rows[at]!.last
    unpackDocumentFrequencies(rows[at++]!.counts, row)
    place = -1
    next()
  }
  function end(): void {
    cursor.term = Number.POSITIVE_INFINITY
  }
  async function readOn(): Promise<void> {
    await yieldToEventLoop()
    rows = await similar.frequencies(segment, last, ROWS_PER_READ)
    at = 0
    if (rows.length === 0) end()
    else openRow()
  }
  await next()
  return cursor
}
