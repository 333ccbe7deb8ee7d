/** The cosine of two start pages: how much of what they say is the same, each word by its weight. */

import type { Rarities } from './rarities.ts'
import type { Vector } from './vector.ts'
import { countWeight } from './weights.ts'

/** A page that others are compared with: the weight of each of its words, the length of its vector, and where a word is found. */
export type Weighed = { vector: Vector; weights: Float64Array; length: number; places: Places }

/** Open addressing: a word lies at its lowest bits or after, with what it brings to a dot product for each of a count's weight. */
type Places = { mask: number; words: Uint32Array; factors: Float64Array }

const NO_WORD = 2 ** 32 - 1
/** Places a word: few words meet another one's. */
const ROOM = 4

export function weigh(vector: Vector, rarities: Rarities): Weighed {
  const weights = new Float64Array(vector.size)
  const places = placesFor(vector.size)
  let squares = 0
  for (let at = 0; at < vector.size; at++) {
    const word = vector.words[at]!
    const rarity = rarities.of(word)
    const weight = countWeight(vector.counts[at]!) * rarity
    weights[at] = weight
    squares += weight * weight
    put(places, word, weight * rarity)
  }
  return { vector, weights, length: Math.sqrt(squares), places }
}

/** What both say, each word by its weights in both. */
export function dotOf({ places: { mask, words, factors } }: Weighed, other: Vector): number {
  let dot = 0
  for (let at = 0; at < other.size; at++) {
    const word = other.words[at]!
    let place = word & mask
    while (words[place] !== word && words[place] !== NO_WORD) place = (place + 1) & mask
    if (words[place] === word) dot += factors[place]! * countWeight(other.counts[at]!)
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

/** The length within some hundredths, for a tenth of the time: words that are not frequent all weigh what they weigh on the whole. */
export function nearLengthOf({ size, words, counts }: Vector, rarities: Rarities): number {
  let squares = 0
  for (let at = 0; at < size; at++) {
    const weight = countWeight(counts[at]!) * rarities.near(words[at]!)
    squares += weight * weight
  }
  return Math.sqrt(squares)
}

function placesFor(size: number): Places {
  const room = 2 ** Math.ceil(Math.log2(ROOM * Math.max(1, size)))
  return { mask: room - 1, words: new Uint32Array(room).fill(NO_WORD), factors: new Float64Array(room) }
}

function put({ mask, words, factors }: Places, word: number, factor: number): void {
  let place = word & mask
  while (words[place] !== NO_WORD) place = (place + 1) & mask
  words[place] = word
  factors[place] = factor
}
