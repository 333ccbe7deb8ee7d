/** What a start page that waits is filed under. */

import { digestOfVector, packVector, vectorOf } from '../similar/vector.ts'
import type { Filing, PendingPage } from '../store/similar.ts'

/** The wording of its words, or none where it has no word. */
export function filingOf({ id, name, digest, terms }: PendingPage): Filing {
  const vector = vectorOf(terms)
  if (vector.size === 0) return { id, name, digest, filed: null }
  const packed = packVector(vector)
  return { id, name, digest, filed: { key: digestOfVector(packed), vector: packed } }
}
