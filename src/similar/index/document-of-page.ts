/** Determines the document of a pending start page. */

import type { PageFiling, PendingPage } from '../../store/port/similar.ts'
import { packTermVector, termVectorOf, vectorDigest } from '../text/term-vector.ts'

/** Returns the document of the page's terms, or none if the page has no term. */
export function documentOfPage({ id, name, digest, terms }: PendingPage): PageFiling {
  const vector = termVectorOf(terms)
  if (vector.size === 0) return { id, name, digest, document: null }
  const packed = packTermVector(vector)
  return { id, name, digest, document: { key: vectorDigest(packed), vector: packed } }
}
