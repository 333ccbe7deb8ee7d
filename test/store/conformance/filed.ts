/** Start pages filed as who keeps the index files them, but for the vector: it is the terms as they are. */

import assert from 'node:assert/strict'
import { termsOf } from '../../../src/similar/terms.ts'
import type { Hold } from '../../../src/store/jobs.ts'
import type { Filing, PendingPage } from '../../../src/store/similar.ts'
import type { Store } from '../../../src/store/store.ts'

/** Every vector has this digest, so that it decides nothing. */
export const KEY = 2 ** 52 - 1

/** The vector of a text; null of one without a word. */
export function vectorOf(text: string): Buffer | null {
  return bytesOf(termsOf(text).counts)
}

export function filingOf({ id, name, digest, terms }: PendingPage): Filing {
  const vector = terms && bytesOf(terms)
  return { id, name, digest, filed: vector && { key: KEY, vector } }
}

/** Files all that waits. */
export async function fileAll({ indexing }: Pick<Store, 'indexing'>, hold: Hold): Promise<void> {
  for (;;) {
    const pages = await indexing.pending(100)
    assert.equal(await indexing.file(hold, pages.map(filingOf)), true)
    if (pages.length === 0) return
  }
}

function bytesOf(terms: Uint32Array): Buffer | null {
  return terms.length > 0 ? Buffer.from(terms.buffer, terms.byteOffset, terms.byteLength) : null
}
