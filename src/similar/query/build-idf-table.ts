/** Learns how rare each word is, from the frequencies of all segments. */

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

/** Rows of frequencies read at a time: some 50 KB. */
const ROWS_PER_READ = 64

/** A walk along the words of a segment. */
export type TermCursor = {
  /** The word it is at; above all words at the end. */
  term: number
  count: number
  /** Goes to the next word. A promise only where more has to be read. */
  next(): Promise<void> | void
}

/**
 * A table of rarities as of the segments given, in two walks over their words, none of which is held beside it; the
 * event loop has its turns meanwhile. What a segment that goes had to say is left out from there on.
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

/** Takes every word once, with how many wordings of all the segments have it. */
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

/** The words of several segments side by side, each once. */
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

/** The words of a segment, ascending, each with how many wordings have it. */
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
