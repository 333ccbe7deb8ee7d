/** Answers /similar: the wordings closest to that of a page, and the names whose start pages say them. */

import { weigh } from '../similar/cosine.ts'
import { digestOfVector, emptyVector, packVector, unpackVector, type Vector, vectorOf } from '../similar/vector.ts'
import type { PageOfName } from '../store/similar.ts'
import type { Store } from '../store/store.ts'
import type { Name } from '../words/name.ts'
import { compareBytewise } from '../words/order.ts'
import { Nearest, type Scored, WHOLE } from './nearest.ts'
import { keepRarities, type RarityKeeper } from './rarity-keeper.ts'

/** Who answers /similar in one process. */
export interface Retrieval {
  /**
   * The domains whose start pages read most like that of `name`, at most `limit` (1 to 100), highest first, ties by name,
   * without itself; null where no start-page text is on record, none where it has no word. similarity: 0 to 1 with four decimals, and 1 only where the same
   * words are said the same number of times.
   */
  similar(name: Name, limit: number): Promise<SimilarRow[] | null>
}

export type SimilarRow = { target: Name; similarity: number }

export function openRetrieval(
  { similar }: Pick<Store, 'similar'>,
  now: () => number = Date.now,
  atOnce?: number,
): Retrieval & Pick<RarityKeeper, 'watch'> {
  const keeper = keepRarities(similar, now, atOnce)
  const nearest = new Nearest(similar)

  return {
    watch: keeper.watch,
    async similar(name, limit) {
      const page = await similar.page(name)
      if (page === null) return null
      const { wording: own, vector } = await readPage(similar, page)
      if (vector.size === 0) return []
      const [twins = []] = own === null ? [] : await similar.names([own], limit + 1)
      const same = twins.filter((target) => target !== name).slice(0, limit)
      const rows = same.map((target) => ({ target, similarity: 1 }))
      const wanted = limit - rows.length
      if (wanted === 0) return rows
      const { rarities, isCurrent } = await keeper.now()
      const scored = await nearest.to({ page: weigh(vector, rarities), rarities, own, isCurrent })
      return [...rows, ...(await rowsOf(similar, scored, name, wanted))]
    },
  }
}

/** Rows of wordings in order of their score, names bytewise where it is equal. */
async function rowsOf(
  similar: Pick<Store['similar'], 'names'>,
  scored: readonly Scored[],
  own: Name,
  limit: number,
): Promise<SimilarRow[]> {
  const rows: { target: Name; score: number }[] = []
  // A wording may have no name by now, or the page's own alone, by what it said before: then those that follow have its place.
  for (let from = 0; rows.length < limit && from < scored.length; ) {
    const bar = scored[from + limit - rows.length - 1]?.score ?? 0
    const wanted = scored.slice(from).filter(({ score }) => score >= bar)
    const names = await similar.names(
      wanted.map(({ wording }) => wording),
      limit + 1,
    )
    for (const [at, { score }] of wanted.entries())
      rows.push(...names[at]!.filter((target) => target !== own).map((target) => ({ target, score })))
    from += wanted.length
  }
  rows.sort((a, b) => b.score - a.score || compareBytewise(a.target, b.target))
  return rows.slice(0, limit).map(({ target, score }) => ({ target, similarity: score / WHOLE }))
}

/** What a page says, and the wording it has or shares; null for a page without a word too. */
async function readPage(
  similar: Pick<Store['similar'], 'wordingOf'>,
  page: PageOfName,
): Promise<{ wording: number | null; vector: Vector }> {
  if ('terms' in page) {
    const vector = vectorOf(page.terms)
    const packed = packVector(vector)
    return { wording: await similar.wordingOf(digestOfVector(packed), packed), vector }
  }
  const vector = emptyVector(256)
  if (page.vector !== null) unpackVector(page.vector, vector)
  return { wording: page.wording, vector }
}
