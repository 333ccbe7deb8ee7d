/** Answers /similar: the exact cosines of the few hundred wordings that the index finds closest, and the names that say them. */

import { chooseWords, QUERY } from '../similar/choice.ts'
import { cosine, type Weighed, weigh } from '../similar/cosine.ts'
import { type Found, findPostings, placeOf, ROW_POSTINGS } from '../similar/postings.ts'
import type { Rarities } from '../similar/rarities.ts'
import { Scores } from '../similar/scores.ts'
import { digestOfVector, emptyVector, packVector, unpackVector, type Vector, vectorOf } from '../similar/vector.ts'
import { LEVELS, shareOf } from '../similar/weights.ts'
import type { PageOfName } from '../store/similar.ts'
import type { Store } from '../store/store.ts'
import type { Name } from '../words/name.ts'
import { compareBytewise } from '../words/order.ts'
import { keepRarities } from './rarity-keeper.ts'

/** Who answers /similar in one process. */
export interface Retrieval {
  /**
   * The domains whose start pages read most like that of `name`, at most `limit` (1 to 100), highest first, ties by name,
   * without itself; null where no start-page text is on record. similarity: 0 to 1 with four decimals, and 1 only where the same
   * words are said the same number of times.
   */
  similar(name: Name, limit: number): Promise<SimilarRow[] | null>
}

export type SimilarRow = { target: Name; similarity: number }

/** A wording and its similarity in ten thousandths. */
type Scored = { wording: number; score: number }

const WHOLE = 10_000

const SHARES = Float64Array.from({ length: LEVELS }, (_, level) => shareOf(level))

export function openRetrieval(
  { similar }: Pick<Store, 'similar'>,
  milliseconds: () => number = () => performance.now(),
): Retrieval {
  const keeper = keepRarities(similar, milliseconds)
  const [scores, candidate] = [new Scores(), emptyVector(1024)]
  const found: Found = foundOf(QUERY.rows * ROW_POSTINGS)

  /** The wordings that share the heaviest words, the best by what the postings alone say. */
  async function candidates(page: Weighed, rarities: Rarities, own: number | null): Promise<number[]> {
    const chosen = chooseWords(page, rarities)
    const rows = await similar.postings(
      chosen.map((each) => ({ place: placeOf(each.word, LEVELS - 1), rows: each.rows })),
    )
    for (const [at, { word, weight }] of chosen.entries()) {
      found.size = 0
      findPostings(rows[at]!, word, found)
      for (let place = 0; place < found.size; place++)
        scores.add(found.wordings[place]!, weight * SHARES[found.levels[place]!]!)
    }
    return scores.takeBest(QUERY.cosines).filter((wording) => wording !== own)
  }

  /** Their exact cosines, the highest first. */
  async function ranked(page: Weighed, rarities: Rarities, own: number | null): Promise<Scored[]> {
    const wordings = await candidates(page, rarities, own)
    const all: Scored[] = []
    for (const [at, vector] of (await similar.vectors(wordings)).entries()) {
      if (vector === null) continue
      unpackVector(vector, candidate)
      const score = Math.min(WHOLE - 1, Math.round(WHOLE * cosine(page, candidate, rarities)))
      if (score > 0) all.push({ wording: wordings[at]!, score })
    }
    return all.sort((a, b) => b.score - a.score)
  }

  /** Rows of wordings in order of their score, names bytewise where it is equal. */
  async function rowsOf(scored: readonly Scored[], own: Name, limit: number): Promise<SimilarRow[]> {
    const bar = scored[limit - 1]?.score ?? 0
    const wanted = scored.filter(({ score }) => score >= bar)
    const names = await similar.names(
      wanted.map(({ wording }) => wording),
      limit + 1, // one of them may be the page's own, by what it said before
    )
    const rows = wanted.flatMap(({ score }, at) =>
      names[at]!.filter((target) => target !== own).map((target) => ({ target, score })),
    )
    rows.sort((a, b) => b.score - a.score || compareBytewise(a.target, b.target))
    return rows.slice(0, limit).map(({ target, score }) => ({ target, similarity: score / WHOLE }))
  }

  return {
    async similar(name, limit) {
      const page = await similar.page(name)
      const read = page === null ? null : await readPage(similar, page)
      if (read === null) return null
      const { wording, vector } = read
      const [twins = []] = wording === null ? [] : await similar.names([wording], limit + 1)
      const first = twins.filter((target) => target !== name).slice(0, limit)
      const rows = first.map((target) => ({ target, similarity: 1 }))
      if (rows.length === limit) return rows
      const rarities = await keeper.now()
      return [
        ...rows,
        ...(await rowsOf(await ranked(weigh(vector, rarities), rarities, wording), name, limit - rows.length)),
      ]
    },
  }
}

/** What a page says, and the wording it has or shares; null where it says no word. */
async function readPage(
  similar: Pick<Store['similar'], 'wordingOf'>,
  page: PageOfName,
): Promise<{ wording: number | null; vector: Vector } | null> {
  if ('terms' in page) {
    const vector = vectorOf(page.terms)
    if (vector.size === 0) return null
    const packed = packVector(vector)
    return { wording: await similar.wordingOf(digestOfVector(packed), packed), vector }
  }
  if (page.vector === null) return null
  const vector = emptyVector(256)
  unpackVector(page.vector, vector)
  return { wording: page.wording, vector }
}

function foundOf(room: number): Found {
  return { size: 0, wordings: new Float64Array(room), levels: new Uint8Array(room) }
}
