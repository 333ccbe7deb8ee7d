/** The similar texts' part of the port: who asks which start pages read alike, and who keeps the index that answers it. */

import type { DomainName } from '../../values/domain-name.ts'
import type { Instant } from '../../values/time.ts'
import type { LockHold } from './jobs.ts'

/**
 * A wording is what a start page says, as a packed vector of its words (src/similar/text/term-vector.ts): pages that say the same words
 * the same number of times share one. Its number is above those of all before it, and never given again.
 */
export type StoredDocument = { document: number; vector: Uint8Array }

/** A start page on record. `terms`: of a page that the index has not followed yet; otherwise its wording, null without a word. */
export type PageOfName = { terms: Uint32Array } | { document: number | null; vector: Uint8Array | null }

/**
 * A part of the index that never changes: the postings of the wordings from `first` to `last` (both included) that were there
 * when it was written, `wordings` of them. Segments follow one another: what one ends with, the next begins after.
 */
export type Segment = { segment: number; first: number; last: number; documents: number }

/**
 * A row of about a hundred postings (src/similar/postings/postings.ts). The postings of a segment are one sequence, ordered by
 * place (the word and how much it matters to the page, below 2^30) and then by wording; a row is found by its last posting, and
 * holds places of one part only (their first 8 bits).
 */
export type PostingRow = { key: number; document: number; postings: Uint8Array }

/** How many wordings of a segment have each word, for some hundred words up to `last` (src/similar/postings/document-frequencies.ts). */
export type FrequencyRow = { last: number; counts: Uint8Array }

/** A read of one word: in each segment, rows from the first that may hold postings at or after `place`; `rows` over all. */
export type PostingsRead = { key: number; rows: number }

/** For who answers /similar. Every method is one look-up by key or one range by key for each thing that it is asked for. */
export interface SimilarReader {
  /** What the start page of a name says; null where no text is on record. */
  page(name: DomainName): Promise<PageOfName | null>
  /** The wording of exactly this vector; null for none. */
  findDocument(digest: number, vector: Uint8Array): Promise<number | null>
  /** The vectors in the order asked; null for a wording that no page has any more. */
  vectors(documents: readonly number[]): Promise<(Uint8Array | null)[]>
  /** For each wording the names whose start pages say it, bytewise, the first `limit` of them. */
  names(documents: readonly number[], limit: number): Promise<DomainName[][]>
  /** The segments that answer now, by their first wording. */
  segments(): Promise<Segment[]>
  /** A segment's rows by word, those after `after` (-1: from the first); none when it is gone meanwhile. */
  frequencies(segment: number, after: number, limit: number): Promise<FrequencyRow[]>
  /**
   * For each read the rows of all segments, one after another as bytes: in each segment the read's `rows` in proportion to
   * the segment's share of the wordings, at least one. All as of one moment.
   */
  postings(wanted: readonly PostingsRead[]): Promise<Uint8Array[]>
  /** Until when everything that was observed is in the index; null where nobody ever kept it. */
  indexedUntil(): Promise<Instant | null>
}

/** A start page that was observed and that the index has not followed yet. */
export type PendingPage = { id: number; name: DomainName; digest: string; terms: Uint32Array }

/** What a pending page is filed under. `digest`: that of the page as it was read, `key` that of the vector; null: no words. */
export type PageFiling = {
  id: number
  name: DomainName
  digest: string
  document: { key: number; vector: Uint8Array } | null
}

/**
 * For who keeps the index: the holder of the duty `index`. Every write says its hold; false (or null) is returned where the
 * hold no longer stands, and then nothing was written. Every write is one transaction of some 50 milliseconds at most, as
 * long as it is given some hundred pages or some thousand rows.
 */
export interface SimilarIndexStore {
  /** Pages that wait, at most `limit`, in any order; those that are left are handed out again. */
  pending(limit: number): Promise<PendingPage[]>
  /**
   * Files pages: each gets the wording of its vector, a new one where there is none, and waits no longer, unless another
   * digest has come meanwhile. Wordings that no page has any more are dropped (those of forgotten names too), and noted as
   * gone where a segment may hold them.
   */
  filePages(hold: LockHold, filings: readonly PageFiling[]): Promise<boolean>
  /** Wordings above `after`, ascending, at most `limit`. */
  documents(after: number, limit: number): Promise<StoredDocument[]>
  /** Begins a segment that does not answer yet, and ends what was begun under other holds and not published; its number. */
  beginSegment(hold: LockHold, first: number, last: number): Promise<number | null>
  /** Adds rows to a segment that was begun. */
  writeRows(
    hold: LockHold,
    segment: number,
    postings: readonly PostingRow[],
    frequencies: readonly FrequencyRow[],
  ): Promise<boolean>
  /** From now on the segment answers, in place of those that it covers. */
  publishSegment(hold: LockHold, segment: number, documents: number): Promise<boolean>
  /** Removes at most `limit` rows of segments that no longer answer; true where more are left. */
  removeReplaced(hold: LockHold, limit: number): Promise<boolean>
  /** A segment's rows in their order, those after `after` (null: from the first), at most `limit`. */
  rows(segment: number, after: { key: number; document: number } | null, limit: number): Promise<PostingRow[]>
  /** Wordings above `after`, up to `last`, that are gone and that segments may still hold, ascending, at most `limit`. */
  tombstones(after: number, last: number, limit: number): Promise<number[]>
  /** Strikes wordings off those that are gone: no segment holds them. */
  removeTombstones(hold: LockHold, documents: readonly number[]): Promise<boolean>
  /** Notes until when everything that was observed is in the index. */
  setIndexedUntil(hold: LockHold, until: Instant): Promise<boolean>
}
