/**
 * Finds the patterns that match a name. A pattern is found by up to eight characters of a text that all of its names
 * have, so a name is compared with few patterns only. Pure.
 */

import { MIN_FIXED_CHARACTERS } from '../search/fixed-text.ts'
import { type NamePattern, patternOfValue, type Watch } from './watch.ts'

type IndexedPattern = { watch: Watch; pattern: NamePattern; key: string }

const MAX_KEY_LENGTH = 8
/** The first characters of a key, by which most places of a name are passed over. Shorter keys have a filter apart. */
const FILTERED_CHARACTERS = 4
const CHARACTER_BITS = 7
const FILTERED_MASK = 2 ** (CHARACTER_BITS * FILTERED_CHARACTERS) - 1
const SHORT_MASK = 2 ** (CHARACTER_BITS * MIN_FIXED_CHARACTERS) - 1
const FILTER_BITS = 20
/** Spreads characters over a filter: 2^32 divided by the golden ratio. */
const SPREAD = 0x9e3779b1

export class PatternIndex {
  readonly #byKey = new Map<string, IndexedPattern[]>()
  readonly #byId = new Map<number, IndexedPattern>()
  /** The lengths of keys that have ever been in use, without the shortest one. */
  readonly #lengths = new Set<number>()
  /** Whether a key may begin with some characters. What is removed stays. */
  #filter = new Uint8Array(0)
  #shortFilter = new Uint8Array(0)

  add(watch: Watch): void {
    if (this.#filter.length === 0) {
      this.#filter = new Uint8Array(2 ** FILTER_BITS)
      this.#shortFilter = new Uint8Array(2 ** FILTER_BITS)
    }
    const pattern = patternOfValue(watch.value)
    const key = this.#rarestKey(pattern.fixedText)
    const indexed = { watch, pattern, key }
    this.#byId.set(watch.id, indexed)
    const others = this.#byKey.get(key)
    if (others === undefined) this.#byKey.set(key, [indexed])
    else others.push(indexed)
    if (key.length === MIN_FIXED_CHARACTERS) this.#shortFilter[placeOf(packedStart(key, MIN_FIXED_CHARACTERS))] = 1
    else {
      this.#lengths.add(key.length)
      this.#filter[placeOf(packedStart(key, FILTERED_CHARACTERS))] = 1
    }
  }

  remove({ id }: Watch): void {
    const indexed = this.#byId.get(id)
    if (indexed === undefined) return
    this.#byId.delete(id)
    const others = this.#byKey.get(indexed.key)!.filter((each) => each !== indexed)
    if (others.length === 0) this.#byKey.delete(indexed.key)
    else this.#byKey.set(indexed.key, others)
  }

  /** The watches whose patterns match a name, each once. */
  find(name: string): Watch[] {
    if (this.#byId.size === 0) return []
    const found = new Set<Watch>()
    let packed = 0
    for (let end = 1; end <= name.length; end++) {
      packed = ((packed << CHARACTER_BITS) | name.charCodeAt(end - 1)) & FILTERED_MASK
      const start = end - FILTERED_CHARACTERS
      if (start >= 0 && this.#filter[placeOf(packed)] === 1)
        for (const length of this.#lengths) this.#compare(name, name.slice(start, start + length), found)
      if (end >= MIN_FIXED_CHARACTERS && this.#shortFilter[placeOf(packed & SHORT_MASK)] === 1)
        this.#compare(name, name.slice(end - MIN_FIXED_CHARACTERS, end), found)
    }
    return [...found]
  }

  #compare(name: string, key: string, found: Set<Watch>): void {
    for (const { watch, pattern } of this.#byKey.get(key) ?? [])
      if (!found.has(watch) && pattern.matches(name)) found.add(watch)
  }

  /** The part of a text by which the fewest other patterns are found. */
  #rarestKey(text: string): string {
    const length = Math.min(text.length, MAX_KEY_LENGTH)
    let [rarest, fewest] = ['', Number.POSITIVE_INFINITY]
    for (let at = 0; at + length <= text.length; at++) {
      const key = text.slice(at, at + length)
      const patterns = this.#byKey.get(key)?.length ?? 0
      if (patterns < fewest) [rarest, fewest] = [key, patterns]
    }
    return rarest
  }
}

/** The first characters of a text as one number. */
function packedStart(text: string, characters: number): number {
  let packed = 0
  for (let at = 0; at < characters; at++) packed = (packed << CHARACTER_BITS) | text.charCodeAt(at)
  return packed
}

/** The place in a filter. */
function placeOf(packed: number): number {
  return Math.imul(packed, SPREAD) >>> (32 - FILTER_BITS)
}
