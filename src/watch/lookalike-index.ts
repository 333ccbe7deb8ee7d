/**
 * Finds the brands that a name looks like: by hashes of the label without one of its characters, which a label at the
 * edit distance 1 shares with that of the brand, and of further candidates. So a name is compared with few brands. Pure.
 */

import { editDistance } from '../lookalikes/distance.ts'
import { ANY } from '../lookalikes/edits.ts'
import { appearancesOf, shapeOf, unicodeOf } from '../lookalikes/idn.ts'
import { BrandLookalikes, furtherCandidatesOf } from '../lookalikes/lookalikes.ts'
import type { DomainName } from '../values/domain-name.ts'
import { brandOfValue, type Watch } from './watch.ts'

/** Brands whose candidates are kept: some 100 kB and a few milliseconds each. */
const MAX_KEPT_BRANDS = 300
/** The odd factor of the polynomial of a hash. */
const FACTOR = 0x01000193

/** Watches by a hash. Texts may share one, so what is found must be compared. */
class WatchesByHash {
  readonly #watches = new Map<number, Watch | Watch[]>()

  add(hash: number, watch: Watch): void {
    const others = this.#watches.get(hash)
    if (others === undefined) this.#watches.set(hash, watch)
    else if (Array.isArray(others)) others.push(watch)
    else this.#watches.set(hash, [others, watch])
  }

  remove(hash: number, watch: Watch): void {
    const rest = this.find(hash).filter((each) => each !== watch)
    if (rest.length === 0) this.#watches.delete(hash)
    else this.#watches.set(hash, rest.length === 1 ? rest[0]! : rest)
  }

  find(hash: number): readonly Watch[] {
    const found = this.#watches.get(hash)
    return found === undefined ? NOTHING : Array.isArray(found) ? found : [found]
  }
}
const NOTHING: readonly Watch[] = []

export class LookalikeIndex {
  /** What the label of each brand looks like. */
  readonly #texts = new Map<Watch, string>()
  readonly #near = new WatchesByHash()
  readonly #further = new WatchesByHash()
  /** The candidates of the brands that were last compared, oldest first. */
  readonly #brands = new Map<string, BrandLookalikes>()

  add(watch: Watch): void {
    const brand = brandOfValue(watch.value)
    this.#texts.set(watch, brand.text)
    for (const hash of new Set(nearHashes(brand.text))) this.#near.add(hash, watch)
    for (const hash of furtherHashes(watch)) this.#further.add(hash, watch)
  }

  remove(watch: Watch): void {
    for (const hash of new Set(nearHashes(this.#texts.get(watch)!))) this.#near.remove(hash, watch)
    for (const hash of furtherHashes(watch)) this.#further.remove(hash, watch)
    this.#texts.delete(watch)
  }

  /** The watches of brands that a name looks like, with at least the score of their threshold. Each once. */
  find(name: string): Watch[] {
    if (this.#texts.size === 0) return []
    const found = new Set<Watch>()
    const dot = name.indexOf('.')
    const label = name.slice(0, dot)
    if (label.startsWith('xn--'))
      for (const { text } of appearancesOf(unicodeOf(label))) {
        this.#addFound(text, found)
        for (const watch of this.#further.find(hashOf(shapeOf(text)))) found.add(watch)
      }
    else this.#addFound(label, found)
    const second = name.indexOf('.', dot + 1)
    if (second > 0)
      this.#addNear(label + name.slice(dot + 1, second), [hashOf(label + name.slice(dot + 1, second))], found)
    return found.size === 0 ? [] : [...found].filter((watch) => this.#isLookalike(name, watch))
  }

  #addFound(text: string, found: Set<Watch>): void {
    this.#addNear(text, nearHashes(text), found)
    for (const watch of this.#further.find(hashOf(text))) found.add(watch)
  }

  #addNear(text: string, hashes: readonly number[], found: Set<Watch>): void {
    for (const hash of hashes)
      for (const watch of this.#near.find(hash))
        if (!found.has(watch) && editDistance(text, this.#texts.get(watch)!, 1) <= 1) found.add(watch)
  }

  #isLookalike(name: string, { value, threshold }: Watch): boolean {
    const lookalike = this.#brand(value).judge(name as DomainName)
    return lookalike !== null && lookalike.score >= threshold!
  }

  #brand(value: string): BrandLookalikes {
    const brand = this.#brands.get(value) ?? new BrandLookalikes(brandOfValue(value))
    this.#brands.delete(value)
    this.#brands.set(value, brand)
    if (this.#brands.size > MAX_KEPT_BRANDS) this.#brands.delete(this.#brands.keys().next().value!)
    return brand
  }
}

/** The hashes of the candidates of a brand that may be further away than the edit distance 1, each once. */
function furtherHashes({ value }: Watch): Set<number> {
  const brand = brandOfValue(value)
  const hashes = new Set([hashOf(shapeOf(brand.text))])
  for (const [label] of furtherCandidatesOf(brand)) if (!label.includes(ANY)) hashes.add(hashOf(label))
  return hashes
}

/**
 * The hashes of a text and of the text without each of its characters. Two texts at the edit distance 1, a transposition
 * included, have one of them in common.
 */
function nearHashes(text: string): number[] {
  const whole = hashOf(text)
  const hashes = [whole]
  let after = 0 // the hash of what follows a character
  let factor = 1 // FACTOR to the power of the length of that
  for (let at = text.length - 1; at >= 0; at--) {
    const withCharacter = (after + Math.imul(text.charCodeAt(at), factor)) | 0
    const before = (whole - withCharacter) | 0 // times FACTOR once too often
    hashes.push((Math.imul(before, INVERSE) + after) | 0)
    after = withCharacter
    factor = Math.imul(factor, FACTOR)
  }
  return hashes
}

/** The number whose product with FACTOR is 1, modulo 2^32. */
const INVERSE = inverseOf(FACTOR)

/** Newton's iteration: each step doubles the number of right bits, of which an odd number has three at first. */
function inverseOf(odd: number): number {
  let inverse = odd
  for (let bits = 3; bits < 32; bits *= 2) inverse = Math.imul(inverse, 2 - Math.imul(odd, inverse))
  return inverse
}

/** The polynomial of the UTF-16 units of a text, modulo 2^32. */
function hashOf(text: string): number {
  let hash = 0
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, FACTOR) + text.charCodeAt(at)) | 0
  return hash
}
