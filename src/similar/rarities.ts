/** How rare each word is, in a table of 16 MiB however many words there are: of rare words, those are left out that crowd it. */

import { WORD_BITS } from './vector.ts'
import { rarity } from './weights.ts'

/** The table has this many buckets of 8 words; the words of one begin with the same bits. */
const BUCKET_BITS = 20
const BUCKET_WORDS = 8
const TAG_BITS = WORD_BITS - BUCKET_BITS
const TAGS = 2 ** TAG_BITS - 1
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
  /** The end of a word (its tag) and the code of its count; 0 where there is none. */
  private readonly entries = new Uint16Array(BUCKET_WORDS << BUCKET_BITS)
  private readonly pairs = new Uint32Array(this.entries.buffer)
  private readonly weights = new Float32Array(CODES)
  private leftOut = { words: 0, pages: 0 }
  private all = 0

  /** Adds a word that is not in the table yet. */
  add(word: number, pages: number): void {
    const code = codeOf(pages)
    const entry = ((word & TAGS) << CODE_BITS) | code
    const first = (word >>> TAG_BITS) * BUCKET_WORDS
    let least = first
    for (let at = first; at < first + BUCKET_WORDS; at++) {
      if (this.entries[at] === 0) {
        this.entries[at] = entry
        return
      }
      if (this.codeAt(at) < this.codeAt(least)) least = at
    }
    this.leftOut.words++
    this.leftOut.pages += counted[Math.min(code, this.codeAt(least))]!
    if (code > this.codeAt(least)) this.entries[least] = entry
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

  /** How many wordings have a word, about: of one that is not in the table, as many as of those left out; 0 where none were. */
  pagesOf(word: number): number {
    const code = this.find(word)
    if (code === 0) return this.leftOut.words === 0 ? 0 : this.others
    return counted[code]!
  }

  private get others(): number {
    const { words, pages } = this.leftOut
    return words === 0 ? 1 : pages / words
  }

  /**
   * The code of a word's count; 0 for a word that is not in the table. Without a branch, two entries at a time: so the processor
   * reads the buckets of many words at once, where it would else wait for each.
   */
  private find(word: number): number {
    const pairs = this.pairs
    const first = (word >>> TAG_BITS) * (BUCKET_WORDS / 2)
    const tag = (word & TAGS) << CODE_BITS
    const tags = tag | (tag << 16)
    return (
      codeIn(pairs[first]! ^ tags) |
      codeIn(pairs[first + 1]! ^ tags) |
      codeIn(pairs[first + 2]! ^ tags) |
      codeIn(pairs[first + 3]! ^ tags)
    )
  }

  private codeAt(at: number): number {
    return this.entries[at]! & (CODES - 1)
  }
}

/** Of two entries from which a tag was taken away, the code of the one that has none left; 0 where both have. */
function codeIn(pair: number): number {
  const low = ((pair & (TAGS << CODE_BITS)) - 1) >> 31
  const high = ((pair >>> (16 + CODE_BITS)) - 1) >> 31
  return (pair & low & (CODES - 1)) | ((pair >>> 16) & high & (CODES - 1))
}

function codeOf(pages: number): number {
  if (pages <= EXACT) return Math.max(1, pages)
  return Math.min(CODES - 1, EXACT + Math.round(Math.log(pages / EXACT) / STEP))
}
