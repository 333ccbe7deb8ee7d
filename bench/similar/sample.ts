/** The pages of a run: those made up, parked ones of one text, and those that are asked for. */

import type { DomainName } from '../../src/values/domain-name.ts'
import { pages, parked } from './corpus.ts'
import type { Page } from './store.ts'

const SEED = 1
export const PARKED = 100_000
/** Exact cosines of more pages take more memory than they are worth. */
const JUDGED_PAGES = 1_000_000
/** Characters of a page of very many. */
const BEGINNING = 200

/** True where recall can be reckoned of so many pages. */
export function isJudged(count: number): boolean {
  return count <= JUDGED_PAGES
}

/** The pages; of very many of them the beginning, or it would take hours to make them. */
export function* made(count: number): Generator<Page> {
  for (const { name, text } of pages(SEED, count))
    yield { name, text: isJudged(count) ? text : text.slice(0, BEGINNING) }
}

export function twins(count = PARKED): Iterable<Page> {
  return parked(SEED, count)
}

export function* everything(count: number): Generator<Page> {
  yield* made(count)
  yield* twins()
}

/** Names from all of the corpus, the first `judged` of them too. */
export function queriesOf(count: number, asked: number, judged: number): DomainName[] {
  const wanted = new Set(Array.from({ length: asked }, (_, at) => Math.floor(((at + 0.5) * count) / asked)))
  const names: DomainName[] = []
  let place = 0
  for (const { name } of pages(SEED, count)) if (wanted.has(place++)) names.push(name as DomainName)
  const step = Math.max(1, Math.floor(asked / judged))
  return [...names.filter((_, at) => at % step === 0), ...names.filter((_, at) => at % step !== 0)]
}
