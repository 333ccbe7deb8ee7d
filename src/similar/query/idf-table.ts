/** A table of document frequencies that needs at most 16 MiB for any number of terms. */

import { TERM_BITS, TERM_COUNT } from '../text/term-vector.ts'
import { idf } from '../text/weights.ts'

/** Bits of an entry: this many for the code of the document frequency, the others for the tag of the term. */
const COUNT_CODE_BITS = 12
const COUNT_CODES = 2 ** COUNT_CODE_BITS
const TERM_TAGS = 2 ** (32 - COUNT_CODE_BITS)
/** Frequencies up to this one are exact. Higher ones grow in steps of 0.5 %, up to some 50 million. */
const MAX_EXACT_COUNT = 2048
const LOG_COUNT_STEP = Math.log(1.005)

const FREQUENT_TABLE_BITS = 16
const FREQUENT_TABLE_SIZE = 2 ** FREQUENT_TABLE_BITS

/** The minimum and the maximum size of the table as a power of two, and its maximum load factor. */
const [MIN_TABLE_BITS, MAX_TABLE_BITS, MAX_LOAD_FACTOR] = [16, 22, 0.5]

const countOfCode = Float64Array.from({ length: COUNT_CODES }, (_, code) =>
  code <= MAX_EXACT_COUNT ? code : Math.round(MAX_EXACT_COUNT * Math.exp((code - MAX_EXACT_COUNT) * LOG_COUNT_STEP)),
)

/** Counts the terms by frequency code. It must be complete before the first term is added to the table. */
export class DocumentFrequencyHistogram {
  readonly termsByCode = new Uint32Array(COUNT_CODES)

  add(documentFrequency: number): void {
    this.termsByCode[countCodeOf(documentFrequency)]!++
  }
}

/**
 * Built in two passes over all terms: the first counts them, which decides which terms are kept, and the second adds
 * them. Terms of a single document are not kept. If there are very many terms, the next rare ones are not kept either.
 * Every other term has the average frequency of the terms that were not kept.
 */
export class IdfTable {
  /** The number of documents. */
  readonly documents: number
  private readonly defaultFrequency: number
  private readonly idfByCode: Float32Array
  /** Open addressing: the frequency code, and above it the lowest bits of the hashed term. 0 means empty. */
  private readonly entries: Uint32Array
  private readonly tableBits: number
  /**
   * A second copy of the most frequent terms, small enough for the processor cache. It answers two of three lookups.
   */
  private readonly frequentTerms = new Uint32Array(FREQUENT_TABLE_SIZE)
  readonly factor: number
  /** The lowest code of a kept term, and the lowest code of a frequent term. */
  private readonly minCode: number
  private readonly minFrequentCode: number
  /** The number of terms that can still be added. */
  private termsLeft: number

  /**
   * Creates an empty table. The histogram covers all terms of `all` documents. `factor`: an odd number below 2^26 for
   * hashing terms. It is random, so that no attacker can choose terms that collide.
   */
  constructor(all: number, { termsByCode }: DocumentFrequencyHistogram, factor: number) {
    this.factor = factor
    const { minCode, kept, defaultFrequency } = chooseKeptTerms(termsByCode)
    this.minCode = minCode
    this.minFrequentCode = minCodeForSize(termsByCode, FREQUENT_TABLE_SIZE / 2)
    this.termsLeft = kept
    this.documents = all
    this.defaultFrequency = defaultFrequency
    this.idfByCode = Float32Array.from(countOfCode, (pages, code) => idf(all, code === 0 ? defaultFrequency : pages))
    this.tableBits = Math.min(MAX_TABLE_BITS, Math.max(MIN_TABLE_BITS, Math.ceil(Math.log2(kept / MAX_LOAD_FACTOR))))
    this.entries = new Uint32Array(2 ** this.tableBits)
  }

  /** Adds a term, once, with its document frequency, which must not exceed the counted one. */
  add(term: number, documentFrequency: number): void {
    const code = countCodeOf(documentFrequency)
    if (code >= this.minFrequentCode) this.addFrequent(term, code)
    if (code >= this.minCode && this.termsLeft-- > 0) this.addKept(term, code)
  }

  /** Returns ln((all + 1) / frequency) of a term. */
  idfOf(term: number): number {
    const entry = this.frequentTerms[term & (FREQUENT_TABLE_SIZE - 1)]!
    if (entry >>> COUNT_CODE_BITS === (term >>> FREQUENT_TABLE_BITS) + 1)
      return this.idfByCode[entry & (COUNT_CODES - 1)]!
    return this.idfByCode[this.findCode(term)]!
  }

  /** Returns the approximate document frequency of a term, at least 1. */
  documentFrequencyOf(term: number): number {
    const code = this.findCode(term)
    return code === 0 ? this.defaultFrequency : countOfCode[code]!
  }

  /** Returns the frequency code of a term, or 0 if it is not in the table. */
  private findCode(term: number): number {
    const { entries } = this
    const mixed = Math.imul(term, this.factor) & (TERM_COUNT - 1)
    const tag = mixed & (TERM_TAGS - 1)
    let slot = mixed >>> (TERM_BITS - this.tableBits)
    while (entries[slot] !== 0 && entries[slot]! >>> COUNT_CODE_BITS !== tag) slot = (slot + 1) & (entries.length - 1)
    return entries[slot]! & (COUNT_CODES - 1)
  }

  /**
   * The slot is the term's lowest bits. The entry holds the other bits plus 1 above the code. In a collision, the more
   * frequent term stays.
   */
  private addFrequent(term: number, code: number): void {
    const slot = term & (FREQUENT_TABLE_SIZE - 1)
    if (code > (this.frequentTerms[slot]! & (COUNT_CODES - 1)))
      this.frequentTerms[slot] = (((term >>> FREQUENT_TABLE_BITS) + 1) << COUNT_CODE_BITS) | code
  }

  private addKept(term: number, code: number): void {
    const { entries } = this
    const mixed = Math.imul(term, this.factor) & (TERM_COUNT - 1)
    let slot = mixed >>> (TERM_BITS - this.tableBits)
    while (entries[slot] !== 0) slot = (slot + 1) & (entries.length - 1)
    entries[slot] = ((mixed & (TERM_TAGS - 1)) << COUNT_CODE_BITS) | code
  }
}

/** Returns the lowest kept code, the number of kept terms, and the average frequency of the others. */
function chooseKeptTerms(termsByCode: Uint32Array): { minCode: number; kept: number; defaultFrequency: number } {
  let kept = termsByCode.reduce((sum, some) => sum + some, 0)
  let [minCode, dropped, pages] = [1, 0, 0]
  while (minCode < 2 || kept > MAX_LOAD_FACTOR * 2 ** MAX_TABLE_BITS) {
    kept -= termsByCode[minCode]!
    dropped += termsByCode[minCode]!
    pages += termsByCode[minCode]! * countOfCode[minCode]!
    minCode++
  }
  return { minCode, kept, defaultFrequency: dropped === 0 ? 1 : pages / dropped }
}

/** Returns the lowest code for which at most `maxTerms` terms have that code or a higher one. */
function minCodeForSize(termsByCode: Uint32Array, maxTerms: number): number {
  let [minCode, kept] = [COUNT_CODES, 0]
  while (minCode > 1 && kept + termsByCode[minCode - 1]! <= maxTerms) kept += termsByCode[--minCode]!
  return minCode
}

function countCodeOf(documentFrequency: number): number {
  if (documentFrequency <= MAX_EXACT_COUNT) return Math.max(1, documentFrequency)
  return Math.min(
    COUNT_CODES - 1,
    MAX_EXACT_COUNT + Math.round(Math.log(documentFrequency / MAX_EXACT_COUNT) / LOG_COUNT_STEP),
  )
}
