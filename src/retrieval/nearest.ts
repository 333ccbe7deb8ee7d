/** Finds the wordings closest to a page: candidates by their postings alone, and the closest of them by exact cosines. */

import { chooseWords, QUERY } from '../similar/choice.ts'
import { dotOf, lengthOf, type Weighed } from '../similar/cosine.ts'
import { type Found, findPostings, placeOf, ROW_POSTINGS } from '../similar/postings.ts'
import type { Rarities } from '../similar/rarities.ts'
import { Scores } from '../similar/scores.ts'
import { emptyVector, unpackVector } from '../similar/vector.ts'
import { LEVELS, shareOf } from '../similar/weights.ts'
import type { Similar } from '../store/similar.ts'

/** A wording and its similarity in ten thousandths: at most 9,999, since another wording is never the same. */
export type Scored = { wording: number; score: number }

/** A page that is asked for: its words weighed, its wording (null where none is like it), and whether the rarities are of now. */
export type Asked = { page: Weighed; rarities: Rarities; own: number | null; isCurrent: boolean }

/** What is 1 in the unit of a score. */
export const WHOLE = 10_000
/** The closest that are looked for, however many are asked for: fewer are the beginning of more. */
const WANTED = 100

const SHARES = Float64Array.from({ length: LEVELS }, (_, level) => shareOf(level))

/** Has memory of some 6 MB, for all queries of a process: nothing of a query is left in it while another may begin. */
export class Nearest {
  private readonly similar: Similar
  private readonly scores = new Scores()
  private readonly candidate = emptyVector(1024)
  private readonly found: Found

  constructor(similar: Similar) {
    this.similar = similar
    const room = QUERY.rows * ROW_POSTINGS
    this.found = { size: 0, wordings: new Float64Array(room), levels: new Uint8Array(room) }
  }

  /** The closest wordings, the highest first, 100 of them and some more: read until hardly one more comes among these. */
  async to(asked: Asked): Promise<Scored[]> {
    const wordings = await this.candidates(asked)
    let closest: Scored[] = []
    for (let from = 0, end: number = QUERY.first; from < wordings.length; from = end, end += QUERY.next) {
      const bar = closest[WANTED - 1]?.score ?? Number.NEGATIVE_INFINITY
      const some = wordings.slice(from, end)
      const scored = this.scored(some, await this.similar.vectors(some), asked)
      closest = [...closest, ...scored].sort((a, b) => b.score - a.score)
      if (closest.length >= WANTED && scored.filter(({ score }) => score > bar).length < QUERY.few) break
    }
    return closest
  }

  /** The wordings that share the heaviest words, the best first, by what the postings alone say. */
  private async candidates({ page, rarities, own, isCurrent }: Asked): Promise<number[]> {
    const { found, scores } = this
    const chosen = chooseWords(page, rarities, own !== null && isCurrent)
    const reads = chosen.map(({ word, rows }) => ({ place: placeOf(word, LEVELS - 1), rows }))
    const rows = await this.similar.postings(reads)
    try {
      for (const [at, { word, weight }] of chosen.entries()) {
        found.size = 0
        findPostings(rows[at]!, word, found)
        for (let place = 0; place < found.size; place++)
          scores.add(found.wordings[place]!, weight * SHARES[found.levels[place]!]!)
      }
      return scores.best(QUERY.cosines).filter((wording) => wording !== own)
    } finally {
      scores.clear()
    }
  }

  /** The exact similarities of some wordings, but for those that are 0 or gone. */
  private scored(
    wordings: readonly number[],
    vectors: readonly (Uint8Array | null)[],
    { page, rarities }: Asked,
  ): Scored[] {
    const scored: Scored[] = []
    for (const [at, vector] of vectors.entries()) {
      if (vector === null) continue
      unpackVector(vector, this.candidate)
      const cosine = dotOf(page, this.candidate) / (page.length * lengthOf(this.candidate, rarities))
      const score = Math.min(WHOLE - 1, Math.round(WHOLE * cosine))
      if (score > 0) scored.push({ wording: wordings[at]!, score })
    }
    return scored
  }
}
