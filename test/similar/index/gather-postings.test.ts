/** The content of a new segment: a bounded number of documents, and of terms in memory. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_SEGMENT_DOCUMENTS, readNewDocuments } from '../../../src/similar/index/gather-postings.ts'
import type { StoredDocument } from '../../../src/store/port/similar.ts'

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
