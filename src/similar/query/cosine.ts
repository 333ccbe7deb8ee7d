/** Computes the cosine similarity of two start pages from their weighted terms. */

import type { TermVector } from '../text/term-vector.ts'
import { countWeight } from '../text/weights.ts'
import type { IdfTable } from './idf-table.ts'
import { COUNT_BITS, MAX_COUNT, type VectorRange } from './vector-cache.ts'

/** A page to compare with others: the weights of its terms, the length of its vector, and a table to find its terms. */
export type WeightedDocument = { vector: TermVector; weights: Float64Array; length: number; termTable: TermTable }

/**
 * A hash table. A hashed term is in the slot of its highest bits or in the next one. `factors`, shifted by one slot,
 * has what each count weight of the term adds to a dot product. It starts with 0. `overflow`: the few terms whose slots
 * were both full.
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
/** Slots per term, so that few terms collide. */
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

/** Returns the dot product of both weighted vectors. Its first loop has no branches, because matches are unpredictable. */
export function dotProduct({ termTable }: WeightedDocument, other: VectorRange): number {
  const { multiplier, shift, terms, factors, overflow } = termTable
  const { entries, from, end, largeEnd } = other
  let dot = 0
  for (let at = from; at < end; at++) {
    const entry = entries[at]!
    const term = entry >>> COUNT_BITS
    const slot = Math.imul(term, multiplier) >>> shift
    const isInSlot = ((terms[slot]! ^ term) - 1) >> 31
    const isInNextSlot = ((terms[slot + 1]! ^ term) - 1) >> 31
    dot += factors[((slot + 1) & isInSlot) | ((slot + 2) & isInNextSlot)]! * countWeight(entry & MAX_COUNT)
  }
  for (let at = end; at < largeEnd; at += 2)
    dot += factorOf(termTable, entries[at]!) * countWeight(entries[at + 1]! >>> 0)
  for (const { term, factor } of overflow) dot += factor * weightOfTerm(other, term)
  return dot
}

/** What a count weight of 1 of a term adds to a dot product: 0 for a term that is not in the table, or in `overflow`. */
function factorOf({ multiplier, shift, terms, factors }: TermTable, term: number): number {
  const slot = Math.imul(term, multiplier) >>> shift
  if (terms[slot] === term) return factors[slot + 1]!
  return terms[slot + 1] === term ? factors[slot + 2]! : 0
}

/** Returns the weight of a term's count, or 0 if the document does not contain the term. */
function weightOfTerm({ entries, from, end, largeEnd }: VectorRange, term: number): number {
  for (let at = end; at < largeEnd; at += 2) if (entries[at] === term) return countWeight(entries[at + 1]! >>> 0)
  let [low, high] = [from, end]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (entries[middle]! >>> COUNT_BITS < term) low = middle + 1
    else high = middle
  }
  return low < end && entries[low]! >>> COUNT_BITS === term ? countWeight(entries[low]! & MAX_COUNT) : 0
}

export function vectorLength({ entries, from, end, largeEnd }: VectorRange, idfTable: IdfTable): number {
  let squares = 0
  for (let at = from; at < end; at++) {
    const entry = entries[at]!
    squares += (countWeight(entry & MAX_COUNT) * idfTable.idfOf(entry >>> COUNT_BITS)) ** 2
  }
  for (let at = end; at < largeEnd; at += 2)
    squares += (countWeight(entries[at + 1]! >>> 0) * idfTable.idfOf(entries[at]!)) ** 2
  return Math.sqrt(squares)
}

function buildTermTable({ size, terms }: TermVector, factors: Float64Array, multiplier: number): TermTable {
  const bits = Math.ceil(Math.log2(TABLE_SLOTS_PER_TERM * Math.max(1, size)))
  const [tableSize, shift] = [2 ** bits, 32 - bits]
  const slots = { terms: new Uint32Array(tableSize + 1).fill(EMPTY_TERM), factors: new Float64Array(tableSize + 2) }
  const overflow: OverflowTerm[] = []
  for (let at = 0; at < size; at++) {
    const first = Math.imul(terms[at]!, multiplier) >>> shift
    const slot = first + (slots.terms[first] === EMPTY_TERM ? 0 : 1)
    if (slots.terms[slot] === EMPTY_TERM) {
      slots.terms[slot] = terms[at]!
      slots.factors[slot + 1] = factors[at]!
    } else overflow.push({ term: terms[at]!, factor: factors[at]! })
  }
  return { multiplier, shift, ...slots, overflow }
}
