/** The /similar part of the port: queries for similar start pages, and the index that answers them. */

import type { DomainName } from '../../values/domain-name.ts'
import type { Instant } from '../../values/time.ts'
import type { LockHold } from './jobs.ts'

/**
 * A document: the text of a start page as a packed vector of its terms (src/similar/text/term-vector.ts). Pages with
 * the same terms and counts share one document. Document numbers ascend and are never reused.
 */
export type StoredDocument = { document: number; vector: Uint8Array }

/** The start page of a name. `terms`: the page is not indexed yet. Otherwise its document, null if it has no terms. */
export type PageOfName = { terms: Uint32Array } | { document: number | null; vector: Uint8Array | null }

/**
 * An immutable part of the index: the postings of the documents from `first` to `last` (both inclusive) that existed
 * when it was written, `documents` of them. Segments are contiguous: each starts after the end of the previous one.
 */
export type Segment = { segment: number; first: number; last: number; documents: number }

/**
 * A row of about two hundred postings (src/similar/postings/postings.ts). The postings of a segment form one sequence,
 * ordered by key (the term and its weight in the page, below 2^30), then by document. The last posting of a row is its
 * key. A row holds keys of one partition only (their first 8 bits).
 */
export type PostingRow = { key: number; document: number; postings: Uint8Array }

/**
 * The document frequency in a segment of each of some hundred terms up to `last`
 * (src/similar/postings/document-frequencies.ts).
 */
export type FrequencyRow = { last: number; counts: Uint8Array }

/**
 * A read of one term: in each segment, rows from the first one that may hold postings at or after `key`. `rows`: total
 * over all segments.
 */
export type PostingsRead = { key: number; rows: number }

/** For /similar. Each method reads one row by key or one range by key per argument. */
export interface SimilarReader {
  /** The start page of a name; null if no text is stored. */
  page(name: DomainName): Promise<PageOfName | null>
  /** The document with exactly this vector; null if there is none. */
  findDocument(digest: number, vector: Uint8Array): Promise<number | null>
  /** The vectors in the order of `documents`; null for a deleted document. */
  vectors(documents: readonly number[]): Promise<(Uint8Array | null)[]>
  /** For each document the first `limit` names, in byte order, of the start pages that have it. */
  names(documents: readonly number[], limit: number): Promise<DomainName[][]>
  /** The published segments, by their first document. */
  segments(): Promise<Segment[]>
  /** A segment's rows by term, after `after` (-1: from the first). Empty if the segment was deleted meanwhile. */
  frequencies(segment: number, after: number, limit: number): Promise<FrequencyRow[]>
  /**
   * For each read the bytes of the rows of all segments, one after another. Each segment contributes rows in proportion
   * to its share of the documents, but at least one. All rows are from one snapshot.
   */
  postings(reads: readonly PostingsRead[]): Promise<Uint8Array[]>
  /** The index contains everything that was observed until this time; null if it was never built. */
  indexedUntil(): Promise<Instant | null>
}

/** An observed start page that is not indexed yet. */
export type PendingPage = { id: number; name: DomainName; digest: string; terms: Uint32Array }

/**
 * The document of a pending page. `digest`: that of the page when it was read. `key`: digest of the vector. Null: no
 * terms.
 */
export type PageFiling = {
  id: number
  name: DomainName
  digest: string
  document: { key: number; vector: Uint8Array } | null
}

/**
 * For the indexer, the holder of the lock `index`. Every write passes its lock. If the lock is lost, it writes nothing
 * and returns false or null. Every write is one transaction of at most about 50 milliseconds for some hundred pages or
 * some thousand rows.
 */
export interface SimilarIndexStore {
  /** At most `limit` pending pages in any order. Pages that are not filed are returned again later. */
  pending(limit: number): Promise<PendingPage[]>
  /**
   * Files pages: each gets the document of its vector, a new one if there is none, and is no longer pending, unless its
   * digest has changed meanwhile. Documents without a page are deleted, also those of forgotten names, and get a
   * tombstone if a segment may hold them.
   */
  filePages(hold: LockHold, filings: readonly PageFiling[]): Promise<boolean>
  /** Documents above `after`, ascending, at most `limit`. */
  documents(after: number, limit: number): Promise<StoredDocument[]>
  /**
   * Counts at most `limit` documents above `after`, up to `last`. `next`: the last one that was counted; null if no
   * further ones follow.
   */
  countDocuments(after: number, last: number, limit: number): Promise<{ count: number; next: number | null }>
  /** Begins an unpublished segment and returns its number. Deletes unpublished segments of other locks. */
  beginSegment(hold: LockHold, first: number, last: number): Promise<number | null>
  /** Adds rows to an unpublished segment. */
  writeRows(
    hold: LockHold,
    segment: number,
    postings: readonly PostingRow[],
    frequencies: readonly FrequencyRow[],
  ): Promise<boolean>
  /** Publishes the segment. It replaces the segments that it covers. */
  publishSegment(hold: LockHold, segment: number, documents: number): Promise<boolean>
  /** Replaces all segments: every document is to be indexed again. */
  restart(hold: LockHold): Promise<boolean>
  /** Deletes at most `limit` rows of replaced segments. Returns true if more are left. */
  removeReplaced(hold: LockHold, limit: number): Promise<boolean>
  /** A segment's rows in order, after `after` (null: from the first), at most `limit`. */
  rows(segment: number, after: { key: number; document: number } | null, limit: number): Promise<PostingRow[]>
  /** Deleted documents above `after`, up to `last`, that segments may still hold, ascending, at most `limit`. */
  tombstones(after: number, last: number, limit: number): Promise<number[]>
  /** Removes the tombstones of documents that no segment holds. */
  removeTombstones(hold: LockHold, documents: readonly number[]): Promise<boolean>
  /** Stores the time until which the index contains everything that was observed. */
  setIndexedUntil(hold: LockHold, until: Instant): Promise<boolean>
}
