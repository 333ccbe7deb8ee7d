/** How rare each word is, in a table of at most 16 MiB however many words there are. */

import { WORD_BITS, WORDS } from './vector.ts'
import { rarity } from './weights.ts'

/** An entry: so many bits of the code of a word's count, and of the word. */
const CODE_BITS = 12
const CODES = 2 ** CODE_BITS
const TAGS = 2 ** (32 - CODE_BITS)
/** Counts up to here are kept as they are, higher ones in steps of half a hundredth: up to some 50 million. */
const EXACT = 2048
const STEP = Math.log(1.005)

const FREQUENT_BITS = 16
const FREQUENT = 2 ** FREQUENT_BITS

/** The table has at least so many places and at most so many, of which so many are taken at most. */
const [LEAST_BITS, MOST_BITS, TAKEN] = [16, 22, 0.5]

const counted = Float64Array.from({ length: CODES }, (_, code) =>
  code <= EXACT ? code : Math.round(EXACT * Math.exp((code - EXACT) * STEP)),
)

/** How many words have each count, by code: what is known of all of them before the first is kept. */
export class Histogram {
  readonly words = new Uint32Array(CODES)

  add(pages: number): void {
    this.words[codeOf(pages)]!++
  }
}

/**
 * Made in two walks over all words: one counts them, by which it is decided which are kept, and one puts them. The words of one
 * page alone are not kept, nor are, where there are very many, the next rare ones: all that are not kept, or were never seen, count
 * as frequent as those that were left out are on the whole.
 */
export class Rarities {
  /** How many wordings there are. */
  readonly wordings: number
  private readonly others: number
  private readonly weights: Float32Array
  /** Open addressing: the code of the word's count and above it the lowest bits of the word as it is mixed; 0 for none. */
  private readonly entries: Uint32Array
  private readonly bits: number
  /** The most frequent words again, in so little room that they stay near the processor: two words of three that are looked for. */
  private readonly frequent = new Uint32Array(FREQUENT)
  readonly factor: number
  /** The least codes of a word that is kept, and of one that is among the most frequent. */
  private readonly least: number
  private readonly leastFrequent: number
  /** Words for which there is room. */
  private room: number

  /**
   * Without a word yet. The histogram is of all words, with how many of the `all` wordings have each. `factor`: any odd number below 2^26,
   * by which words are mixed; a random one, so that nobody can choose words that crowd one place.
   */
  constructor(all: number, { words }: Histogram, factor: number) {
    this.factor = factor
    const { least, kept, others } = leave(words)
    this.least = least
    this.leastFrequent = leastOf(words, FREQUENT / 2)
    this.room = kept
    this.wordings = all
    this.others = others
    this.weights = Float32Array.from(counted, (pages, code) => rarity(all, code === 0 ? others : pages))
    this.bits = Math.min(MOST_BITS, Math.max(LEAST_BITS, Math.ceil(Math.log2(kept / TAKEN))))
    this.entries = new Uint32Array(2 ** this.bits)
  }

  /** Each word once, with how many wordings have it: no more than when it was counted. */
  put(word: number, pages: number): void {
    const code = codeOf(pages)
    if (code >= this.leastFrequent) this.putFrequent(word, code)
    if (code >= this.least && this.room-- > 0) this.putKept(word, code)
  }

  /** ln((all + 1) / pages) of a word. */
  of(word: number): number {
    const entry = this.frequent[word & (FREQUENT - 1)]!
    if (entry >>> CODE_BITS === (word >>> FREQUENT_BITS) + 1) return this.weights[entry & (CODES - 1)]!
    return this.weights[this.find(word)]!
  }

  /** How many wordings have a word, about; at least 1. */
  pagesOf(word: number): number {
    const code = this.find(word)
    return code === 0 ? this.others : counted[code]!
  }

  /** The code of a word's count; 0 for a word that is not in the table. */
  private find(word: number): number {
    const { entries } = this
    const mixed = Math.imul(word, this.factor) & (WORDS - 1)
    const tag = mixed & (TAGS - 1)
    let place = mixed >>> (WORD_BITS - this.bits)
    while (entries[place] !== 0 && entries[place]! >>> CODE_BITS !== tag) place = (place + 1) & (entries.length - 1)
    return entries[place]! & (CODES - 1)
  }

  /** At the place of its lowest bits, with the others and 1 above its code; of two at one place the more frequent. */
  private putFrequent(word: number, code: number): void {
    const place = word & (FREQUENT - 1)
    if (code > (this.frequent[place]! & (CODES - 1)))
      this.frequent[place] = (((word >>> FREQUENT_BITS) + 1) << CODE_BITS) | code
  }

  private putKept(word: number, code: number): void {
    const { entries } = this
    const mixed = Math.imul(word, this.factor) & (WORDS - 1)
    let place = mixed >>> (WORD_BITS - this.bits)
    while (entries[place] !== 0) place = (place + 1) & (entries.length - 1)
    entries[place] = ((mixed & (TAGS - 1)) << CODE_BITS) | code
  }
}

/** The least code that is kept, how many words are, and how many pages each of the others has on the whole. */
function leave(words: Uint32Array): { least: number; kept: number; others: number } {
  let kept = words.reduce((sum, some) => sum + some, 0)
  let [least, left, pages] = [1, 0, 0]
  while (least < 2 || kept > TAKEN * 2 ** MOST_BITS) {
    kept -= words[least]!
    left += words[least]!
    pages += words[least]! * counted[least]!
    least++
  }
  return { least, kept, others: left === 0 ? 1 : pages / left }
}

/** The least code such that no more than so many words have that or a higher one. */
function leastOf(words: Uint32Array, most: number): number {
  let [least, kept] = [CODES, 0]
  while (least > 1 && kept + words[least - 1]! <= most) kept += words[--least]!
  return least
}

function codeOf(pages: number): number {
  if (pages <= EXACT) return Math.max(1, pages)
  return Math.min(CODES - 1, EXACT + Math.round(Math.log(pages / EXACT) / STEP))
}
