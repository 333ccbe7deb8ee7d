/** Start pages, and their filing as the indexer does it. */

import assert from 'node:assert/strict'
import type { Observation } from '../../../../src/observe/observation.ts'
import { termVectorOf as ofTerms, packTermVector, vectorDigest } from '../../../../src/similar/text/term-vector.ts'
import { termsOf } from '../../../../src/similar/text/terms.ts'
import type { LockHold } from '../../../../src/store/port/jobs.ts'
import type { PageFiling, PendingPage } from '../../../../src/store/port/similar.ts'
import type { Store } from '../../../../src/store/port/store.ts'
import { seen, web } from '../world.ts'

/** The vector of a text, or null for a text without a term. */
export function vectorOf(text: string): Buffer | null {
  return packed(termsOf(text).counts)
}

export function keyOf(text: string): number {
  return vectorDigest(vectorOf(text)!)
}

export function filingOf({ id, name, digest, terms }: PendingPage): PageFiling {
  const vector = packed(terms)
  return { id, name, digest, document: vector && { key: vectorDigest(vector), vector } }
}

/** Files every pending page. */
export async function fileAll({ similarIndex: indexing }: Pick<Store, 'similarIndex'>, hold: LockHold): Promise<void> {
  for (;;) {
    const pages = await indexing.pending(100)
    assert.equal(await indexing.filePages(hold, pages.map(filingOf)), true)
    if (pages.length === 0) return
  }
}

/** A start page with a text, or without one. */
export function saying(domain: string, at: number, text: string | null): Observation {
  return seen(domain, at, null, web({ has_website: true, text }))
}

/** Acquires the lock of the index. */
export async function holdOf({ jobs }: Pick<Store, 'jobs'>): Promise<LockHold> {
  return (await jobs.acquireLock('index', 'a keeper'))!
}

/** Returns the document number of a text, or null if there is none. */
export async function documentOf({ similar }: Pick<Store, 'similar'>, text: string): Promise<number | null> {
  return similar.findDocument(keyOf(text), vectorOf(text)!)
}

export async function vectorsOf({ similar }: Store, documents: readonly number[]): Promise<(Buffer | null)[]> {
  return (await similar.vectors(documents)).map((vector) => vector && Buffer.from(vector))
}

function packed(terms: Uint32Array): Buffer | null {
  return terms.length > 0 ? Buffer.from(packTermVector(ofTerms(terms))) : null
}
