/** The cosine of two start pages: how much of what they say is the same, each word by its weight. */

import type { Rarities } from './rarities.ts'
import type { Vector } from './vector.ts'
import { countWeight } from './weights.ts'

/** A vector with the weight of each word, and its length. */
export type Weighed = { vector: Vector; weights: Float64Array; length: number }

export function weigh(vector: Vector, rarities: Rarities): Weighed {
  const weights = new Float64Array(vector.size)
  let squares = 0
  for (let at = 0; at < vector.size; at++) {
    const weight = countWeight(vector.counts[at]!) * rarities.of(vector.words[at]!)
    weights[at] = weight
    squares += weight * weight
  }
  return { vector, weights, length: Math.sqrt(squares) }
}

/** From 0, where no word is the same, to 1; 0 where nothing of one weighs anything. */
export function cosine(
  { vector: { size, words }, weights, length }: Weighed,
  other: Vector,
  rarities: Rarities,
): number {
  let [dot, squares, at] = [0, 0, 0]
  for (let place = 0; place < other.size; place++) {
    const word = other.words[place]!
    while (at < size && words[at]! < word) at++
    const count = countWeight(other.counts[place]!)
    if (at < size && words[at] === word) {
      const rarity = rarities.of(word)
      dot += weights[at]! * count * rarity
      squares += (count * rarity) ** 2
    } else squares += (count * rarities.of(word)) ** 2
  }
  return squares === 0 || length === 0 ? 0 : Math.min(1, dot / (length * Math.sqrt(squares)))
}
