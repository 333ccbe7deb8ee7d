/**
 * Finds the patterns that match a name. A pattern is found by up to eight characters of a text that all of its names
 * have, so a name is compared with few patterns only. Pure.
 */

import { MIN_FIXED_CHARACTERS } from '../search/fixed-text.ts'
import { type NamePattern, patternOfValue, type Watch } from './watch.ts'

type IndexedPattern = { watch: Watch; pattern: NamePattern; key: string }

const MAX_KEY_LENGTH = 8
/** The filter has 2^20 bits: 128 KiB, which stay in the cache of a core. */
const FILTER_BITS = 20
const BITS_PER_WORD = 32
/** Spreads characters over the filter: 2^32 divided by the golden ratio. */
const SPREAD = 0x9e3779b1

const NOTHING: readonly Watch[] = []

export class PatternIndex {
  readonly #byKey = new Map<string, IndexedPattern[]>()
  readonly #byId = new Map<number, IndexedPattern>()
  /** The lengths of the keys that have ever been in use. */
  readonly #lengths = new Set<number>()
  /** Whether a key may begin with some characters, by their hash. What is removed stays. */
  #filter = new Uint32Array(0)

  add(watch: Watch): void {
    if (this.#filter.length === 0) this.#filter = new Uint32Array(2 ** FILTER_BITS / BITS_PER_WORD)
    const pattern = patternOfValue(watch.value)
    const key = this.#rarestKey(pattern.fixedText)
    const indexed = { watch, pattern, key }
    this.#byId.set(watch.id, indexed)
    const others = this.#byKey.get(key)
    if (others === undefined) this.#byKey.set(key, [indexed])
    else others.push(indexed)
    this.#lengths.add(key.length)
    let hash = 0
    for (let at = 0; at < key.length; at++) {
      hash = nextHash(hash, key.charCodeAt(at))
      const place = placeOf(hash)
      this.#filter[place >>> 5]! |= 1 << (place & 31)
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
  find(name: string): readonly Watch[] {
    if (this.#byId.size === 0) return NOTHING
    let found = NOTHING
    for (let start = 0; start + MIN_FIXED_CHARACTERS <= name.length; start++) {
      const end = Math.min(name.length, start + MAX_KEY_LENGTH)
      let hash = 0
      for (let at = start; at < end; at++) {
        hash = nextHash(hash, name.charCodeAt(at))
        const place = placeOf(hash)
        if (((this.#filter[place >>> 5]! >>> (place & 31)) & 1) === 0) break
        if (this.#lengths.has(at + 1 - start)) found = this.#compare(name, name.slice(start, at + 1), found)
      }
    }
    return found
  }

  /** Adds the watches of a key whose patterns match. */
  #compare(name: string, key: string, found: readonly Watch[]): readonly Watch[] {
    const patterns = this.#byKey.get(key)
    if (patterns === undefined) return found
    const matching = patterns.filter(({ watch, pattern }) => !found.includes(watch) && pattern.matches(name))
    return matching.length === 0 ? found : [...found, ...matching.map(({ watch }) => watch)]
  }

  /** The part of a text by which the fewest other patterns are found. */
  #rarestKey(text: string): string {
    const length = Math.min(text.length, MAX_KEY_LENGTH)
    let [rarest, fewest] = ['', Number.POSITIVE_INFINITY]
    for (let at = 0; at + length <= text.length && fewest > 0; at++) {
      const key = text.slice(at, at + length)
      const patterns = this.#byKey.get(key)?.length ?? 0
      if (patterns < fewest) [rarest, fewest] = [key, patterns]
    }
    return rarest
  }
}

function nextHash(hash: number, code: number): number {
  return Math.imul(hash ^ code, SPREAD) ^ (hash >>> 15)
}

/** The place in the filter. */
function placeOf(hash: number): number {
  return hash >>> (32 - FILTER_BITS)
}
