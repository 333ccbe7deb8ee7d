/** Finds the wordings closest to a page: candidates by their postings alone, the closest of them by cosines, the last exact. */

import { chooseWords, QUERY } from '../similar/choice.ts'
import { dotOf, lengthOf, nearLengthOf, type Weighed } from '../similar/cosine.ts'
import { type Found, findPostings, placeOf, ROW_POSTINGS } from '../similar/postings.ts'
import type { Rarities } from '../similar/rarities.ts'
import { Scores } from '../similar/scores.ts'
import { emptyVector, unpackVector } from '../similar/vector.ts'
import { LEVELS, shareOf } from '../similar/weights.ts'
import type { Similar } from '../store/similar.ts'

/** A wording and its similarity in ten thousandths: at most 9,999, since another wording is never the same. */
export type Scored = { wording: number; score: number }

/** A wording with its packed vector, its dot product with the page, and a cosine that is nearly exact but for the page's length. */
type Near = Scored & { vector: Uint8Array; dot: number }

/** A page that is asked for: its words weighed, and its wording, null where none is like it. */
export type Asked = { page: Weighed; rarities: Rarities; own: number | null }

/** What is 1 in the unit of a score. */
export const WHOLE = 10_000
/** Candidates whose vectors are read at once, at first and then. */
const [FIRST, NEXT] = [160, 80]
/** No more are read once so few of the last were among the closest. */
const FEW = 3
/** So many more exact cosines are reckoned than wordings are wanted. */
const SPARE = 40

const SHARES = Float64Array.from({ length: LEVELS }, (_, level) => shareOf(level))

/** The closest wordings, the highest first, `wanted` of them and some more; memory of some 6 MB, for all queries of a process. */
export function openNearest(similar: Similar): (asked: Asked, wanted: number) => Promise<Scored[]> {
  const [scores, candidate] = [new Scores(), emptyVector(1024)]
  const room = QUERY.rows * ROW_POSTINGS
  const found: Found = { size: 0, wordings: new Float64Array(room), levels: new Uint8Array(room) }

  /** The wordings that share the heaviest words, the best first, by what the postings alone say. */
  async function candidates({ page, rarities, own }: Asked): Promise<number[]> {
    const chosen = chooseWords(page, rarities, own !== null)
    const reads = chosen.map(({ word, rows }) => ({ place: placeOf(word, LEVELS - 1), rows }))
    const rows = await similar.postings(reads)
    for (const [at, { word, weight }] of chosen.entries()) {
      found.size = 0
      findPostings(rows[at]!, word, found)
      for (let place = 0; place < found.size; place++)
        scores.add(found.wordings[place]!, weight * SHARES[found.levels[place]!]!)
    }
    return scores.takeBest(QUERY.cosines).filter((wording) => wording !== own)
  }

  /** Adds the nearly exact cosines of some wordings. */
  async function add(near: Near[], wordings: readonly number[], { page, rarities }: Asked): Promise<void> {
    for (const [at, vector] of (await similar.vectors(wordings)).entries()) {
      if (vector === null) continue
      unpackVector(vector, candidate)
      const dot = dotOf(page, candidate)
      near.push({ wording: wordings[at]!, vector, dot, score: dot / nearLengthOf(candidate, rarities) })
    }
  }

  /** The closest by nearly exact cosines, the highest first. */
  async function closest(asked: Asked, wanted: number): Promise<Near[]> {
    const wordings = await candidates(asked)
    let near: Near[] = []
    for (let from = 0, end = FIRST; from < wordings.length; from = end, end += NEXT) {
      const last = from === 0 ? Number.NEGATIVE_INFINITY : (near.at(-1)?.score ?? Number.NEGATIVE_INFINITY)
      const before = near.length
      await add(near, wordings.slice(from, end), asked)
      const news = near.slice(before).filter(({ score }) => score > last).length
      near = near.sort((a, b) => b.score - a.score).slice(0, wanted)
      if (news < FEW) break
    }
    return near
  }

  return async (asked, wanted) => {
    const scored: Scored[] = []
    for (const { wording, vector, dot } of await closest(asked, wanted + SPARE)) {
      unpackVector(vector, candidate)
      const cosine = dot / (asked.page.length * lengthOf(candidate, asked.rarities))
      const score = Math.min(WHOLE - 1, Math.round(WHOLE * cosine))
      if (score > 0) scored.push({ wording, score })
    }
    return scored.sort((a, b) => b.score - a.score)
  }
}
