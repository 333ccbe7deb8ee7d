/**
 * Finds the patterns that match a name. Each pattern is found by three characters of a text that all of its names have,
 * so a name is compared with few patterns only. Pure.
 */

import { type NamePattern, patternOfValue, type Watch } from './watch.ts'

type IndexedPattern = { watch: Watch; pattern: NamePattern; key: number }

export class PatternIndex {
  /** The patterns by three characters in a row of their fixed text. */
  readonly #byKey = new Map<number, IndexedPattern[]>()
  readonly #byId = new Map<number, IndexedPattern>()

  get size(): number {
    return this.#byId.size
  }

  add(watch: Watch): void {
    const pattern = patternOfValue(watch.value)
    const key = this.#rarestKey(pattern.fixedText)
    const indexed = { watch, pattern, key }
    this.#byId.set(watch.id, indexed)
    const others = this.#byKey.get(key)
    if (others === undefined) this.#byKey.set(key, [indexed])
    else others.push(indexed)
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
    const found: Watch[] = []
    const compared = new Set<IndexedPattern[]>()
    let key = (name.charCodeAt(0) << 8) | name.charCodeAt(1)
    for (let at = 2; at < name.length; at++) {
      key = ((key << 8) | name.charCodeAt(at)) & 0xffffff
      const patterns = this.#byKey.get(key)
      if (patterns === undefined || compared.has(patterns)) continue
      compared.add(patterns)
      for (const { watch, pattern } of patterns) if (pattern.matches(name)) found.push(watch)
    }
    return found
  }

  /** The three characters of a text by which the fewest other patterns are found. */
  #rarestKey(text: string): number {
    let [best, fewest] = [0, Number.POSITIVE_INFINITY]
    for (let at = 0; at + 3 <= text.length; at++) {
      const key = (text.charCodeAt(at) << 16) | (text.charCodeAt(at + 1) << 8) | text.charCodeAt(at + 2)
      const patterns = this.#byKey.get(key)?.length ?? 0
      if (patterns < fewest) [best, fewest] = [key, patterns]
    }
    return best
  }
}
