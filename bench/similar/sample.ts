/** The pages of a run: synthetic ones, parked ones of one text, and those that are queried. */

import type { DomainName } from '../../src/values/domain-name.ts'
import { corpusPages, parkedPages } from './corpus.ts'
import type { Page } from './store.ts'

const SEED = 1
export const PARKED_PAGES = 100_000
/** Exact cosines of more pages take too much memory. */
const MAX_RECALL_PAGES = 1_000_000
/** Characters of a page if there are more pages than that. */
const SHORTENED_CHARACTERS = 200

/** Returns whether recall can be computed for so many pages. */
export function hasRecall(count: number): boolean {
  return count <= MAX_RECALL_PAGES
}

/** Generates the pages. Very large numbers of pages are shortened, because generating them would take hours. */
export function* syntheticPages(count: number): Generator<Page> {
  for (const { name, text } of corpusPages(SEED, count))
    yield { name, text: hasRecall(count) ? text : text.slice(0, SHORTENED_CHARACTERS) }
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
  const wanted = new Set(Array.from({ length: queryCount }, (_, at) => Math.floor(((at + 0.5) * count) / queryCount)))
  const names: DomainName[] = []
  let index = 0
  for (const { name } of corpusPages(SEED, count)) if (wanted.has(index++)) names.push(name as DomainName)
  const step = Math.max(1, Math.floor(queryCount / recallCount))
  return [...names.filter((_, at) => at % step === 0), ...names.filter((_, at) => at % step !== 0)]
}
