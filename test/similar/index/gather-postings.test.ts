/** The content of a new segment: a bounded number of documents, and of terms in memory. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatherPostings, MAX_SEGMENT_DOCUMENTS, readNewDocuments } from '../../../src/similar/index/gather-postings.ts'
import type { StoredDocument } from '../../../src/store/port/similar.ts'
import { idfTableOf } from '../sample-documents.ts'
import { documentOf } from '../segments.ts'

/** A store with documents from 1 to `count`, each with a vector of this many bytes. */
function storeOf(count: number, bytes: number) {
  const vector = new Uint8Array(bytes)
  return {
    async documents(after: number, limit: number): Promise<StoredDocument[]> {
      const size = Math.max(0, Math.min(limit, count - after))
      return Array.from({ length: size }, (_, at) => ({ document: after + 1 + at, vector }))
    },
  }
}

async function takenOf(
  count: number,
  bytes: number,
  after = 0,
): Promise<[first: number, count: number, isFull: boolean]> {
  const { documents, isFull } = await readNewDocuments(storeOf(count, bytes), after)
  return [documents[0]?.document ?? 0, documents.length, isFull]
}

test('a new segment contains the next documents, up to its maximum', async () => {
  assert.deepEqual(await takenOf(0, 600), [0, 0, false])
  assert.deepEqual(await takenOf(100, 600, 30), [31, 70, false])
  assert.deepEqual(await takenOf(10_000, 600, 30), [31, MAX_SEGMENT_DOCUMENTS, true])
})

test('segments of pages with very many words contain fewer pages', async () => {
  const [first, count, isFull] = await takenOf(10_000, 50_000, 7)
  assert.deepEqual([first, isFull], [8, true])
  assert.ok(count * 50_000 < 12_000_000, `${count} pages`)
})

test('light terms of a page with many terms have no posting, and count as terms of the page', () => {
  const TERMS = 400
  /** The first terms weigh more and more, the others the same. */
  const counts = (heavy: number, terms: number) =>
    new Map(Array.from({ length: terms }, (_, at) => [7 * at, at < heavy ? 1000 + at : 1] as const))
  const documents = [documentOf(1, counts(200, TERMS)), documentOf(2, counts(3, TERMS)), documentOf(3, counts(1, 90))]
  const idfTable = idfTableOf(
    1000,
    Array.from({ length: TERMS }, (_, at) => [7 * at, 2] as const),
  )
  const terms = [...gatherPostings(documents, idfTable)]
  assert.deepEqual(
    terms.map(({ term, count }) => [term, count]),
    Array.from({ length: TERMS }, (_, at) => [7 * at, at < 90 ? 3 : 2]),
  )
  const posted = (document: number) =>
    terms
      .filter(({ groups }) => groups.some(({ documents }) => documents.includes(document)))
      .map(({ term }) => term / 7)
  assert.deepEqual(
    posted(1),
    Array.from({ length: 200 }, (_, at) => at),
  )
  assert.equal(posted(2).length, TERMS, 'each is more than three hundredths of the length')
  assert.equal(posted(3).length, 90)
})

test('in a large index light terms have postings too', () => {
  const page = new Map(Array.from({ length: 400 }, (_, at) => [7 * at, at < 200 ? 1000 : 1] as const))
  const posted = (documents: number) =>
    [...gatherPostings([documentOf(1, page)], idfTableOf(documents, []))].filter(({ groups }) => groups.length > 0)
      .length
  assert.deepEqual([posted(1000), posted(1_000_000)], [200, 400])
})

test('a page with a very large number of equally light terms keeps its postings', () => {
  const document = documentOf(1, new Map(Array.from({ length: 3000 }, (_, at) => [at, 1])))
  const terms = [...gatherPostings([document], idfTableOf(1000, []))]
  assert.ok(terms.filter(({ groups }) => groups.length > 0).length >= 128)
})
