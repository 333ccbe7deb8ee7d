/** How rare each word is, in a table of 16 MiB however many words there are: of rare words, those are left out that crowd it. */

import { WORD_BITS } from './vector.ts'
import { rarity } from './weights.ts'

/** The table has this many buckets of 8 words; the words of one begin with the same bits. */
const BUCKET_BITS = 20
const BUCKET_WORDS = 8
const TAG_BITS = WORD_BITS - BUCKET_BITS
const CODE_BITS = 16 - TAG_BITS
const CODES = 2 ** CODE_BITS
/** Counts up to here are kept as they are, higher ones in steps of a fiftieth: up to some ten billion. */
const EXACT = 256
const STEP = Math.log(1.02)

const FREQUENT_BITS = 16
const FREQUENT = 2 ** FREQUENT_BITS

const counted = Float64Array.from({ length: CODES }, (_, code) =>
  code <= EXACT ? code : Math.round(EXACT * Math.exp((code - EXACT) * STEP)),
)

/**
 * Filled once, then asked. A bucket keeps its most frequent words. All words that were left out, or never seen, count as
 * frequent as those that were left out are on the whole, and at least as one page's.
 */
export class Rarities {
  private readonly entries = new Uint16Array(BUCKET_WORDS << BUCKET_BITS)
  private readonly weights = new Float32Array(CODES)
  /** How many words of the table have each code. */
  private readonly codes = new Uint32Array(CODES)
  /** The most frequent words again, in so little room that they stay near the processor: 10 bits of the word, 10 of the code. */
  private readonly frequent = new Uint32Array(FREQUENT)
  private rare = 0
  private words = 0
  private pages = 0
  private all = 0

  /** Adds a word that is not in the table yet. */
  add(word: number, pages: number): void {
    const entry = ((word & ((1 << TAG_BITS) - 1)) << CODE_BITS) | codeOf(pages)
    const first = (word >>> TAG_BITS) * BUCKET_WORDS
    let least = first
    for (let at = first; at < first + BUCKET_WORDS; at++) {
      if (this.entries[at] === 0) {
        this.entries[at] = entry
        this.codes[codeOf(pages)]!++
        return
      }
      if (this.codeAt(at) < this.codeAt(least)) least = at
    }
    const [kept, left] =
      codeOf(pages) > this.codeAt(least) ? [entry, this.codeAt(least)] : [this.entries[least]!, codeOf(pages)]
    this.entries[least] = kept
    this.codes[left]!--
    this.codes[codeOf(pages)]!++
    this.words++
    this.pages += counted[left]!
  }

  /** To be called when all words were added: of `all` wordings. */
  finish(all: number): void {
    this.all = all
    counted.forEach((pages, code) => {
      this.weights[code] = rarity(all, code === 0 ? this.others : pages)
    })
    const least = this.findFrequent()
    this.rare = this.meanBelow(least)
  }

  /** Puts the most frequent words where they are found quickly; the lowest code of a word that counts as frequent. */
  private findFrequent(): number {
    let least = CODES
    for (let sum = 0; least > 2 && sum + this.codes[least - 1]! <= FREQUENT / 2; ) sum += this.codes[--least]!
    for (let at = 0; at < this.entries.length; at++) {
      const entry = this.entries[at]!
      const code = entry & (CODES - 1)
      if (code < least) continue
      const word = (Math.floor(at / BUCKET_WORDS) << TAG_BITS) | (entry >>> CODE_BITS)
      const place = word & (FREQUENT - 1)
      if (code > (this.frequent[place]! & (CODES - 1)))
        this.frequent[place] = ((word >>> FREQUENT_BITS) << CODE_BITS) | code
    }
    return least
  }

  /** The root of the mean square of what words with lower codes weigh, each as often as it is said. */
  private meanBelow(least: number): number {
    let [squares, said] = [this.pages * this.weights[0]! ** 2, this.pages]
    for (let code = 1; code < least; code++) {
      squares += this.codes[code]! * counted[code]! * this.weights[code]! ** 2
      said += this.codes[code]! * counted[code]!
    }
    return said === 0 ? this.weights[0]! : Math.sqrt(squares / said)
  }

  /** How many wordings there are. */
  get wordings(): number {
    return this.all
  }

  /** ln((all + 1) / pages) of a word. */
  of(word: number): number {
    return this.weights[this.find(word)]!
  }

  /** The same of a frequent word; of any other, what they weigh on the whole. */
  near(word: number): number {
    const entry = this.frequent[word & (FREQUENT - 1)]!
    return entry >>> CODE_BITS === word >>> FREQUENT_BITS && entry !== 0
      ? this.weights[entry & (CODES - 1)]!
      : this.rare
  }

  /** How many wordings have a word, about: of one that is not in the table, as many as of those left out; 0 where none were. */
  pagesOf(word: number): number {
    const code = this.find(word)
    if (code === 0) return this.words === 0 ? 0 : this.others
    return counted[code]!
  }

  private get others(): number {
    return this.words === 0 ? 1 : this.pages / this.words
  }

  /** The code of a word's count; 0 for a word that is not in the table. */
  private find(word: number): number {
    const tag = word & ((1 << TAG_BITS) - 1)
    const first = (word >>> TAG_BITS) * BUCKET_WORDS
    for (let at = first; at < first + BUCKET_WORDS; at++) {
      const entry = this.entries[at]!
      if (entry === 0) return 0
      if (entry >>> CODE_BITS === tag) return entry & (CODES - 1)
    }
    return 0
  }

  private codeAt(at: number): number {
    return this.entries[at]! & (CODES - 1)
  }
}

function codeOf(pages: number): number {
  if (pages <= EXACT) return Math.max(1, pages)
  return Math.min(CODES - 1, EXACT + Math.round(Math.log(pages / EXACT) / STEP))
}
