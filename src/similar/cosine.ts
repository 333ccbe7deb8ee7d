/** The cosine of two start pages: how much of what they say is the same, each word by its weight. */

import type { Rarities } from './rarities.ts'
import type { Vector } from './vector.ts'
import { countWeight } from './weights.ts'

/** A page that others are compared with: the weight of each of its words, the length of its vector, and where a word is found. */
export type Weighed = { vector: Vector; weights: Float64Array; length: number; places: Places }

/**
 * A word lies at the place of its lowest bits or in the one after; `factors` has, one place on, what it brings to a dot product
 * for each of a count's weight, and at its beginning 0.
 */
type Places = { mask: number; words: Uint32Array; factors: Float64Array }

const NO_WORD = 2 ** 31 - 1
/** Places a word at first: few words meet another one's. */
const ROOM = 8

export function weigh(vector: Vector, rarities: Rarities): Weighed {
  const weights = new Float64Array(vector.size)
  const factors = new Float64Array(vector.size)
  let squares = 0
  for (let at = 0; at < vector.size; at++) {
    const rarity = rarities.of(vector.words[at]!)
    const weight = countWeight(vector.counts[at]!) * rarity
    weights[at] = weight
    factors[at] = weight * rarity
    squares += weight * weight
  }
  return { vector, weights, length: Math.sqrt(squares), places: placesOf(vector, factors) }
}

/** What both say, each word by its weights in both. Without a branch, since it cannot be foreseen which words both say. */
export function dotOf({ places: { mask, words, factors } }: Weighed, { size, words: others, counts }: Vector): number {
  let dot = 0
  for (let at = 0; at < size; at++) {
    const word = others[at]!
    const place = word & mask
    const here = ((words[place]! ^ word) - 1) >> 31
    const after = ((words[place + 1]! ^ word) - 1) >> 31
    dot += factors[((place + 1) & here) | ((place + 2) & after)]! * countWeight(counts[at]!)
  }
  return dot
}

export function lengthOf({ size, words, counts }: Vector, rarities: Rarities): number {
  let squares = 0
  for (let at = 0; at < size; at++) {
    const weight = countWeight(counts[at]!) * rarities.of(words[at]!)
    squares += weight * weight
  }
  return Math.sqrt(squares)
}

/** In a table twice as large each time until every word has its place or the one after. */
function placesOf(vector: Vector, factors: Float64Array): Places {
  for (let room = 2 ** Math.ceil(Math.log2(ROOM * Math.max(1, vector.size))); ; room *= 2) {
    const places = {
      mask: room - 1,
      words: new Uint32Array(room + 1).fill(NO_WORD),
      factors: new Float64Array(room + 2),
    }
    if (fill(places, vector, factors)) return places
  }
}

function fill({ mask, words, factors }: Places, vector: Vector, values: Float64Array): boolean {
  for (let at = 0; at < vector.size; at++) {
    const word = vector.words[at]!
    const place = (word & mask) + (words[word & mask] === NO_WORD ? 0 : 1)
    if (words[place] !== NO_WORD) return false
    words[place] = word
    factors[place + 1] = values[at]!
  }
  return true
}
