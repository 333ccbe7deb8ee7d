/** Rarities of words of which a test says how many wordings have them. */

import { Histogram, Rarities } from '../../src/similar/rarities.ts'

/** Any odd number. */
export const FACTOR = 40_503_019

export function raritiesOf(all: number, pages: Iterable<readonly [word: number, pages: number]>): Rarities {
  const said = [...pages]
  const histogram = new Histogram()
  for (const [, count] of said) histogram.add(count)
  const rarities = new Rarities(all, histogram, FACTOR)
  for (const [word, count] of said) rarities.put(word, count)
  return rarities
}
