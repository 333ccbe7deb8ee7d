/** Counts what a query reads of the store. */

import type { SimilarReader } from '../../src/store/port/similar.ts'

/** `rows`: of postings; `vectors`: of wordings. */
export type Reads = { rows: number; vectors: number }

/** The same answers, counted from `start` to `end`. */
export function countReads(similar: SimilarReader): { similar: SimilarReader; reads: { start(): void; end(): Reads } } {
  const reads: Reads = { rows: 0, vectors: 0 }
  const counted: SimilarReader = {
    ...similar,
    async postings(wanted) {
      const all = await similar.postings(wanted)
      for (const rows of all) reads.rows += rowsIn(rows)
      return all
    },
    async vectors(wordings) {
      reads.vectors += wordings.length
      return similar.vectors(wordings)
    },
  }
  return {
    similar: counted,
    reads: { start: () => void Object.assign(reads, { rows: 0, vectors: 0 }), end: () => ({ ...reads }) },
  }
}

/** Rows that lie one after another, each beginning with its length in bytes. */
function rowsIn(rows: Uint8Array): number {
  let count = 0
  for (let at = 0; at < rows.length; at += rows[at]! * 256 + rows[at + 1]!) count++
  return count
}
