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

/** A brand with its watches. `text`: what its label looks like. */
type WatchedBrand = { value: string; text: string; watches: Watch[] }

/** Brands by a hash. Texts may share one, so what is found must be compared. */
class BrandsByHash {
  readonly #brands = new Map<number, WatchedBrand | WatchedBrand[]>()

  add(hash: number, brand: WatchedBrand): void {
    const others = this.#brands.get(hash)
    if (others === undefined) this.#brands.set(hash, brand)
    else if (Array.isArray(others)) others.push(brand)
    else this.#brands.set(hash, [others, brand])
  }

  remove(hash: number, brand: WatchedBrand): void {
    const rest = this.find(hash).filter((each) => each !== brand)
    if (rest.length === 0) this.#brands.delete(hash)
    else this.#brands.set(hash, rest.length === 1 ? rest[0]! : rest)
  }

  find(hash: number): readonly WatchedBrand[] {
    const found = this.#brands.get(hash)
    return found === undefined ? NOTHING : Array.isArray(found) ? found : [found]
  }
}
const NOTHING: readonly WatchedBrand[] = []
const NO_WATCHES: readonly Watch[] = []

export class LookalikeIndex {
  readonly #watched = new Map<string, WatchedBrand>()
  readonly #near = new BrandsByHash()
  readonly #further = new BrandsByHash()
  /** The candidates of the brands that were last compared, oldest first. */
  readonly #candidates = new Map<string, BrandLookalikes>()

  add(watch: Watch): void {
    const known = this.#watched.get(watch.value)
    if (known !== undefined) {
      known.watches.push(watch)
      return
    }
    const { text } = brandOfValue(watch.value)
    const brand = { value: watch.value, text, watches: [watch] }
    this.#watched.set(watch.value, brand)
    for (const hash of new Set(nearHashes(text))) this.#near.add(hash, brand)
    for (const hash of furtherHashes(brand)) this.#further.add(hash, brand)
  }

  remove(watch: Watch): void {
    const brand = this.#watched.get(watch.value)!
    brand.watches = brand.watches.filter((each) => each !== watch)
    if (brand.watches.length > 0) return
    this.#watched.delete(watch.value)
    for (const hash of new Set(nearHashes(brand.text))) this.#near.remove(hash, brand)
    for (const hash of furtherHashes(brand)) this.#further.remove(hash, brand)
  }

  /** The watches of brands that a name looks like, with at least the score of their threshold. Each once. */
  find(name: string): readonly Watch[] {
    if (this.#watched.size === 0) return NO_WATCHES
    const found = new Set<WatchedBrand>()
    const dot = name.indexOf('.')
    const label = name.slice(0, dot)
    if (label.startsWith('xn--'))
      for (const { text } of appearancesOf(unicodeOf(label))) {
        this.#addFound(text, found)
        for (const brand of this.#further.find(hashOf(shapeOf(text)))) found.add(brand)
      }
    else this.#addFound(label, found)
    const second = name.indexOf('.', dot + 1)
    if (second > 0) {
      const joined = label + name.slice(dot + 1, second)
      this.#addNear(joined, [hashOf(joined)], found)
    }
    return found.size === 0 ? NO_WATCHES : [...found].flatMap((brand) => this.#watchesOf(brand, name))
  }

  #addFound(text: string, found: Set<WatchedBrand>): void {
    this.#addNear(text, nearHashes(text), found)
    for (const brand of this.#further.find(hashOf(text))) found.add(brand)
  }

  #addNear(text: string, hashes: readonly number[], found: Set<WatchedBrand>): void {
    for (const hash of hashes)
      for (const brand of this.#near.find(hash))
        if (!found.has(brand) && editDistance(text, brand.text, 1) <= 1) found.add(brand)
  }

  #watchesOf({ value, watches }: WatchedBrand, name: string): Watch[] {
    const score = this.#candidatesOf(value).judge(name as DomainName)?.score ?? 0
    return watches.filter(({ threshold }) => score >= threshold!)
  }

  #candidatesOf(value: string): BrandLookalikes {
    const candidates = this.#candidates.get(value) ?? new BrandLookalikes(brandOfValue(value))
    this.#candidates.delete(value)
    this.#candidates.set(value, candidates)
    if (this.#candidates.size > MAX_KEPT_BRANDS) this.#candidates.delete(this.#candidates.keys().next().value!)
    return candidates
  }
}

/** The hashes of the candidates of a brand that may be further away than the edit distance 1, each once. */
function furtherHashes({ value, text }: WatchedBrand): Set<number> {
  const hashes = new Set([hashOf(shapeOf(text))])
  for (const [label] of furtherCandidatesOf(brandOfValue(value))) if (!label.includes(ANY)) hashes.add(hashOf(label))
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
