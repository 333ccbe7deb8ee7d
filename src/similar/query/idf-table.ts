/** How rare each word is, in a table of at most 16 MiB however many words there are. */

import { TERM_BITS, TERM_COUNT } from '../text/term-vector.ts'
import { idf } from '../text/weights.ts'

/** An entry: so many bits of the code of a word's count, and of the word. */
const COUNT_CODE_BITS = 12
const COUNT_CODES = 2 ** COUNT_CODE_BITS
const TERM_TAGS = 2 ** (32 - COUNT_CODE_BITS)
/** Counts up to here are kept as they are, higher ones in steps of half a hundredth: up to some 50 million. */
const MAX_EXACT_COUNT = 2048
const LOG_COUNT_STEP = Math.log(1.005)

const FREQUENT_TABLE_BITS = 16
const FREQUENT_TABLE_SIZE = 2 ** FREQUENT_TABLE_BITS

/** The table has at least so many places and at most so many, of which so many are taken at most. */
const [MIN_TABLE_BITS, MAX_TABLE_BITS, MAX_LOAD_FACTOR] = [16, 22, 0.5]

const countOfCode = Float64Array.from({ length: COUNT_CODES }, (_, code) =>
  code <= MAX_EXACT_COUNT ? code : Math.round(MAX_EXACT_COUNT * Math.exp((code - MAX_EXACT_COUNT) * LOG_COUNT_STEP)),
)

/** How many words have each count, by code: what is known of all of them before the first is kept. */
export class DocumentFrequencyHistogram {
  readonly termsByCode = new Uint32Array(COUNT_CODES)

  add(documentFrequency: number): void {
    this.termsByCode[countCodeOf(documentFrequency)]!++
  }
}

/**
 * Made in two walks over all words: one counts them, by which it is decided which are kept, and one puts them. The
 * words of one page alone are not kept, nor are, where there are very many, the next rare ones: all that are not kept,
 * or were never seen, count as frequent as those that were left out are on the whole.
 */
export class IdfTable {
  /** How many wordings there are. */
  readonly documents: number
  private readonly defaultFrequency: number
  private readonly idfByCode: Float32Array
  /**
   * Open addressing: the code of the word's count and above it the lowest bits of the word as it is mixed; 0 for none.
   */
  private readonly entries: Uint32Array
  private readonly tableBits: number
  /**
   * The most frequent words again, in so little room that they stay near the processor: two words of three that are
   * looked for.
   */
  private readonly frequentTerms = new Uint32Array(FREQUENT_TABLE_SIZE)
  readonly factor: number
  /** The least codes of a word that is kept, and of one that is among the most frequent. */
  private readonly minCode: number
  private readonly minFrequentCode: number
  /** Words for which there is room. */
  private termsLeft: number

  /**
   * Without a word yet. The histogram is of all words, with how many of the `all` wordings have each. `factor`: any odd
   * number below 2^26, by which words are mixed; a random one, so that nobody can choose words that crowd one place.
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

  /** Each word once, with how many wordings have it: no more than when it was counted. */
  add(term: number, documentFrequency: number): void {
    const code = countCodeOf(documentFrequency)
    if (code >= this.minFrequentCode) this.addFrequent(term, code)
    if (code >= this.minCode && this.termsLeft-- > 0) this.addKept(term, code)
  }

  /** ln((all + 1) / pages) of a word. */
  idfOf(term: number): number {
    const entry = this.frequentTerms[term & (FREQUENT_TABLE_SIZE - 1)]!
    if (entry >>> COUNT_CODE_BITS === (term >>> FREQUENT_TABLE_BITS) + 1)
      return this.idfByCode[entry & (COUNT_CODES - 1)]!
    return this.idfByCode[this.findCode(term)]!
  }

  /** How many wordings have a word, about; at least 1. */
  documentFrequencyOf(term: number): number {
    const code = this.findCode(term)
    return code === 0 ? this.defaultFrequency : countOfCode[code]!
  }

  /** The code of a word's count; 0 for a word that is not in the table. */
  private findCode(term: number): number {
    const { entries } = this
    const mixed = Math.imul(term, this.factor) & (TERM_COUNT - 1)
    const tag = mixed & (TERM_TAGS - 1)
    let place = mixed >>> (TERM_BITS - this.tableBits)
    while (entries[place] !== 0 && entries[place]! >>> COUNT_CODE_BITS !== tag)
      place = (place + 1) & (entries.length - 1)
    return entries[place]! & (COUNT_CODES - 1)
  }

  /** At the place of its lowest bits, with the others and 1 above its code; of two at one place the more frequent. */
  private addFrequent(term: number, code: number): void {
    const place = term & (FREQUENT_TABLE_SIZE - 1)
    if (code > (this.frequentTerms[place]! & (COUNT_CODES - 1)))
      this.frequentTerms[place] = (((term >>> FREQUENT_TABLE_BITS) + 1) << COUNT_CODE_BITS) | code
  }

  private addKept(term: number, code: number): void {
    const { entries } = this
    const mixed = Math.imul(term, this.factor) & (TERM_COUNT - 1)
    let place = mixed >>> (TERM_BITS - this.tableBits)
    while (entries[place] !== 0) place = (place + 1) & (entries.length - 1)
    entries[place] = ((mixed & (TERM_TAGS - 1)) << COUNT_CODE_BITS) | code
  }
}

/** The least code that is kept, how many words are, and how many pages each of the others has on the whole. */
function chooseKeptTerms(termsByCode: Uint32Array): { minCode: number; kept: number; defaultFrequency: number } {
  let kept = termsByCode.reduce((sum, some) => sum + some, 0)
  let [least, dropped, pages] = [1, 0, 0]
  while (least < 2 || kept > MAX_LOAD_FACTOR * 2 ** MAX_TABLE_BITS) {
    kept -= termsByCode[least]!
    dropped += termsByCode[least]!
    pages += termsByCode[least]! * countOfCode[least]!
    least++
  }
  return { minCode: least, kept, defaultFrequency: dropped === 0 ? 1 : pages / dropped }
}

/** The least code such that no more than so many words have that or a higher one. */
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
