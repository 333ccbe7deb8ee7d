/** The cosine of two start pages: how much of what they say is the same, each word by its weight. */

import type { TermVector } from '../text/term-vector.ts'
import { countWeight } from '../text/weights.ts'
import type { IdfTable } from './idf-table.ts'

/**
 * A page that others are compared with: the weight of each of its words, the length of its vector, and where a word is
 * found.
 */
export type WeightedDocument = { vector: TermVector; weights: Float64Array; length: number; termTable: TermTable }

/**
 * A word, mixed, lies at the place of its highest bits or in the one after; `factors` has, one place on, what it brings
 * to a dot product for each of a count's weight, and begins with 0. `rest`: the few words for which both places were
 * taken.
 */
type TermTable = {
  multiplier: number
  shift: number
  terms: Uint32Array
  factors: Float64Array
  overflow: readonly OverflowTerm[]
}
type OverflowTerm = { term: number; factor: number }

const EMPTY_TERM = 2 ** 31 - 1
/** Places a word: few words meet another one's. */
const TABLE_SLOTS_PER_TERM = 8

export function weightDocument(vector: TermVector, idfTable: IdfTable): WeightedDocument {
  const weights = new Float64Array(vector.size)
  const factors = new Float64Array(vector.size)
  let squares = 0
  for (let at = 0; at < vector.size; at++) {
    const idf = idfTable.idfOf(vector.terms[at]!)
    const weight = countWeight(vector.counts[at]!) * idf
    weights[at] = weight
    factors[at] = weight * idf
    squares += weight * weight
  }
  return { vector, weights, length: Math.sqrt(squares), termTable: buildTermTable(vector, factors, idfTable.factor) }
}

/**
 * What both say, each word by its weights in both. Without a branch, since it cannot be foreseen which words both say.
 */
export function dotProduct(
  { termTable: { multiplier, shift, terms, factors, overflow } }: WeightedDocument,
  other: TermVector,
): number {
  const { size, terms: others, counts } = other
  let dot = 0
  for (let at = 0; at < size; at++) {
    const term = others[at]!
    const place = Math.imul(term, multiplier) >>> shift
    const here = ((terms[place]! ^ term) - 1) >> 31
    const after = ((terms[place + 1]! ^ term) - 1) >> 31
    dot += factors[((place + 1) & here) | ((place + 2) & after)]! * countWeight(counts[at]!)
  }
  for (const { term, factor } of overflow) dot += factor * weightOfTerm(other, term)
  return dot
}

/** The weight of a word's count; 0 for a word that is not said. */
function weightOfTerm({ size, terms, counts }: TermVector, term: number): number {
  let [low, high] = [0, size]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (terms[middle]! < term) low = middle + 1
    else high = middle
  }
  return low < size && terms[low] === term ? countWeight(counts[low]!) : 0
}

export function vectorLength({ size, terms, counts }: TermVector, idfTable: IdfTable): number {
  let squares = 0
  for (let at = 0; at < size; at++) {
    const weight = countWeight(counts[at]!) * idfTable.idfOf(terms[at]!)
    squares += weight * weight
  }
  return Math.sqrt(squares)
}

function buildTermTable({ size, terms }: TermVector, factors: Float64Array, multiplier: number): TermTable {
  const bits = Math.ceil(Math.log2(TABLE_SLOTS_PER_TERM * Math.max(1, size)))
  const [tableSize, shift] = [2 ** bits, 32 - bits]
  const places = { terms: new Uint32Array(tableSize + 1).fill(EMPTY_TERM), factors: new Float64Array(tableSize + 2) }
  const overflow: OverflowTerm[] = []
  for (let at = 0; at < size; at++) {
    const slot = Math.imul(terms[at]!, multiplier) >>> shift
    const place = slot + (places.terms[slot] === EMPTY_TERM ? 0 : 1)
    if (places.terms[place] === EMPTY_TERM) {
      places.terms[place] = terms[at]!
      places.factors[place + 1] = factors[at]!
    } else overflow.push({ term: terms[at]!, factor: factors[at]! })
  }
  return { multiplier, shift, ...places, overflow }
}
