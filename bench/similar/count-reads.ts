/** Counts what a query reads from the store. */

import type { SimilarReader } from '../../src/store/port/similar.ts'

/** `rows`: rows of postings. `vectors`: vectors of documents. */
export type QueryReads = { rows: number; vectors: number }

/** Returns a reader with the same results that counts between `start` and `end`. */
export function countReads(similar: SimilarReader): {
  similar: SimilarReader
  reads: { start(): void; end(): QueryReads }
} {
  const reads: QueryReads = { rows: 0, vectors: 0 }
  const counted: SimilarReader = {
    ...similar,
    async postings(requests) {
      const all = await similar.postings(requests)
      for (const rows of all) reads.rows += rowsIn(rows)
      return all
    },
    async vectors(documents) {
      reads.vectors += documents.length
      return similar.vectors(documents)
    },
  }
  return {
    similar: counted,
    reads: { start: () => void Object.assign(reads, { rows: 0, vectors: 0 }), end: () => ({ ...reads }) },
  }
}

/** Counts consecutive rows, each of which begins with its length in bytes. */
function rowsIn(rows: Uint8Array): number {
  let count = 0
  for (let at = 0; at < rows.length; at += rows[at]! * 256 + rows[at + 1]!) count++
  return count
}
