/** The pages of a run: synthetic ones, parked ones of one text, and those that are queried. */

import type { DomainName } from '../../src/values/domain-name.ts'
import { corpusNameAt, corpusPages, parkedPages } from './corpus.ts'
import type { Page } from './store.ts'

const SEED = 1
export const PARKED_PAGES = 100_000
/** Exact cosines of more pages take too much memory. */
const MAX_RECALL_PAGES = 5_000_000

/** Returns whether recall can be computed for so many pages. */
export function hasRecall(count: number): boolean {
  return count <= MAX_RECALL_PAGES
}

export function syntheticPages(count: number): Iterable<Page> {
  return corpusPages(SEED, count)
}

export function sampleParkedPages(count = PARKED_PAGES): Iterable<Page> {
  return parkedPages(SEED, count)
}

export function* allPages(count: number): Generator<Page> {
  yield* syntheticPages(count)
  yield* sampleParkedPages()
}

/** Returns names from the whole corpus. The first `recallCount` of them also cover all of it. */
export function chooseQueries(count: number, queryCount: number, recallCount: number): DomainName[] {
  const indexes = new Set(Array.from({ length: queryCount }, (_, at) => Math.floor(((at + 0.5) * count) / queryCount)))
  const names = [...indexes].map((index) => corpusNameAt(SEED, index))
  const step = Math.max(1, Math.floor(queryCount / recallCount))
  return [...names.filter((_, at) => at % step === 0), ...names.filter((_, at) => at % step !== 0)]
}
