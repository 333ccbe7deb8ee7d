/** Rarities of words of which a test says how many wordings have them. */

import { Rarities } from '../../src/similar/rarities.ts'

/** Any odd number. */
export const FACTOR = 40_503_019

export function raritiesOf(all: number, pages: readonly (readonly [word: number, pages: number])[]): Rarities {
  const [words, counts] = [0, 1].map((place) => Uint32Array.from(pages, (pair) => pair[place]!))
  return new Rarities(all, { size: pages.length, words: words!, counts: counts! }, FACTOR)
}
