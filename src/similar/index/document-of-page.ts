/** What a start page that waits is filed under. */

import type { PageFiling, PendingPage } from '../../store/port/similar.ts'
import { packTermVector, termVectorOf, vectorDigest } from '../text/term-vector.ts'

/** The wording of its words, or none where it has no word. */
export function documentOfPage({ id, name, digest, terms }: PendingPage): PageFiling {
  const vector = termVectorOf(terms)
  if (vector.size === 0) return { id, name, digest, document: null }
  const packed = packTermVector(vector)
  return { id, name, digest, document: { key: vectorDigest(packed), vector: packed } }
}
