/** The cosine of two start pages: how much of what they say is the same, each word by its weight. */

import type { Rarities } from './rarities.ts'
import type { Vector } from './vector.ts'
import { countWeight } from './weights.ts'

/** A page that others are compared with: the weight of each of its words, the length of its vector, and where a word is found. */
export type Weighed = { vector: Vector; weights: Float64Array; length: number; places: Places }

/**
 * A word, mixed, lies at the place of its highest bits or in the one after; `factors` has, one place on, what it brings to a dot
 * product for each of a count's weight, and begins with 0. `rest`: the few words for which both places were taken.
 */
type Places = { mix: number; shift: number; words: Uint32Array; factors: Float64Array; rest: readonly Rest[] }
type Rest = { word: number; factor: number }

const NO_WORD = 2 ** 31 - 1
/** Places a word: few words meet another one's. */
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
  return { vector, weights, length: Math.sqrt(squares), places: placesOf(vector, factors, rarities.factor) }
}

/** What both say, each word by its weights in both. Without a branch, since it cannot be foreseen which words both say. */
export function dotOf({ places: { mix, shift, words, factors, rest } }: Weighed, other: Vector): number {
  const { size, words: others, counts } = other
  let dot = 0
  for (let at = 0; at < size; at++) {
    const word = others[at]!
    const place = Math.imul(word, mix) >>> shift
    const here = ((words[place]! ^ word) - 1) >> 31
    const after = ((words[place + 1]! ^ word) - 1) >> 31
    dot += factors[((place + 1) & here) | ((place + 2) & after)]! * countWeight(counts[at]!)
  }
  for (const { word, factor } of rest) dot += factor * weightOfCount(other, word)
  return dot
}

/** The weight of a word's count; 0 for a word that is not said. */
function weightOfCount({ size, words, counts }: Vector, word: number): number {
  let [low, high] = [0, size]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (words[middle]! < word) low = middle + 1
    else high = middle
  }
  return low < size && words[low] === word ? countWeight(counts[low]!) : 0
}

export function lengthOf({ size, words, counts }: Vector, rarities: Rarities): number {
  let squares = 0
  for (let at = 0; at < size; at++) {
    const weight = countWeight(counts[at]!) * rarities.of(words[at]!)
    squares += weight * weight
  }
  return Math.sqrt(squares)
}

function placesOf({ size, words }: Vector, factors: Float64Array, mix: number): Places {
  const bits = Math.ceil(Math.log2(ROOM * Math.max(1, size)))
  const [room, shift] = [2 ** bits, 32 - bits]
  const places = { words: new Uint32Array(room + 1).fill(NO_WORD), factors: new Float64Array(room + 2) }
  const rest: Rest[] = []
  for (let at = 0; at < size; at++) {
    const home = Math.imul(words[at]!, mix) >>> shift
    const place = home + (places.words[home] === NO_WORD ? 0 : 1)
    if (places.words[place] === NO_WORD) {
      places.words[place] = words[at]!
      places.factors[place + 1] = factors[at]!
    } else rest.push({ word: words[at]!, factor: factors[at]! })
  }
  return { mix, shift, ...places, rest }
}
