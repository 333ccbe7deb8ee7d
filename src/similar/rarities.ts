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
        return
      }
      if (this.codeAt(at) < this.codeAt(least)) least = at
    }
    const [kept, left] =
      codeOf(pages) > this.codeAt(least) ? [entry, this.codeAt(least)] : [this.entries[least]!, codeOf(pages)]
    this.entries[least] = kept
    this.words++
    this.pages += counted[left]!
  }

  /** To be called when all words were added: of `all` wordings. */
  finish(all: number): void {
    this.all = all
    counted.forEach((pages, code) => {
      this.weights[code] = rarity(all, code === 0 ? this.others : pages)
    })
  }

  /** How many wordings there are. */
  get wordings(): number {
    return this.all
  }

  /** ln((all + 1) / pages) of a word. */
  of(word: number): number {
    return this.weights[this.find(word)]!
  }

  /** How many wordings have a word, about. */
  pagesOf(word: number): number {
    const code = this.find(word)
    return code === 0 ? this.others : counted[code]!
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
