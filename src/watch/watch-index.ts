/**
 * The inverted index of watches: from what a change is about to the watches that ask for it. A look-up costs about the
 * same whether there are ten watches or 100,000. Pure.
 */

import { type IpAddress, packToHex } from '../values/ip-address.ts'
import type { WatchKind } from '../values/watch-kind.ts'
import { LookalikeIndex } from './lookalike-index.ts'
import { PatternIndex } from './pattern-index.ts'
import { prefixOfValue, type Watch } from './watch.ts'

/** The kinds whose values are hosts. A watch of a host also matches each host below it. */
type HostKind = 'nameserver' | 'mailserver' | 'redirect' | 'certificate'
/** The kinds that a map finds by their value. */
type SubjectKind = Exclude<WatchKind, 'pattern' | 'lookalikes'>

export class WatchIndex {
  readonly #watches = new Map<number, Watch>()
  readonly #bySubject: Record<SubjectKind, Map<string, Watch[]>> = {
    name: new Map(),
    suffix: new Map(),
    nameserver: new Map(),
    mailserver: new Map(),
    redirect: new Map(),
    certificate: new Map(),
    text: new Map(),
    address: new Map(),
  }
  /** Networks by prefix length, then by the first bits of the packed address. */
  readonly #networks = new Map<number, Map<string, Watch[]>>()
  readonly #patterns = new PatternIndex()
  readonly #lookalikes = new LookalikeIndex()
  /** The watches of the hosts in sets of records: most names share a set. */
  readonly #ofSets = new Map<string, readonly Watch[]>()

  get size(): number {
    return this.#watches.size
  }

  /** Adds a watch, or replaces the one with its number. */
  set(watch: Watch): void {
    this.remove(watch.id)
    this.#forgetSets()
    this.#watches.set(watch.id, watch)
    if (watch.kind === 'pattern') this.#patterns.add(watch)
    else if (watch.kind === 'lookalikes') this.#lookalikes.add(watch)
    else {
      const [map, subject] = this.#placeOf(watch, watch.kind)
      const others = map.get(subject)
      if (others === undefined) map.set(subject, [watch])
      else others.push(watch)
    }
  }

  remove(id: number): void {
    const watch = this.#watches.get(id)
    if (watch === undefined) return
    this.#watches.delete(id)
    this.#forgetSets()
    if (watch.kind === 'pattern') this.#patterns.remove(watch)
    else if (watch.kind === 'lookalikes') this.#lookalikes.remove(watch)
    else {
      const [map, subject] = this.#placeOf(watch, watch.kind)
      const others = map.get(subject)!.filter((each) => each !== watch)
      if (others.length > 0) map.set(subject, others)
      else map.delete(subject)
      for (const [length, network] of this.#networks) if (network.size === 0) this.#networks.delete(length)
    }
  }

  /** To clear an empty map would take most of the time of reading all watches. */
  #forgetSets(): void {
    if (this.#ofSets.size > 0) this.#ofSets.clear()
  }

  /** Whether any watch is of a kind, so that it is worth reading what a change is about. */
  has(kind: SubjectKind): boolean {
    return this.#bySubject[kind].size > 0 || (kind === 'address' && this.#networks.size > 0)
  }

  /** The watches of a name, of names below one of its parents, of patterns that it matches, and of brands it looks like. */
  ofName(name: string): readonly Watch[] {
    const { name: names, suffix } = this.#bySubject
    let found = joined(this.#patterns.find(name), this.#lookalikes.find(name))
    if (names.size > 0) found = joined(found, names.get(name))
    if (suffix.size > 0)
      for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1))
        found = joined(found, suffix.get(name.slice(dot + 1)))
    return found
  }

  /** The watches of the text of a name's start page. */
  ofText(name: string): readonly Watch[] {
    return this.#bySubject.text.get(name) ?? []
  }

  /** The watches of a host and of its parents. */
  ofHost(kind: HostKind, host: string): readonly Watch[] {
    const watches = this.#bySubject[kind]
    let found = NOTHING
    for (let at = 0; at >= 0; at = host.indexOf('.', at + 1))
      found = joined(found, watches.get(at === 0 ? host : host.slice(at + 1)))
    return found
  }

  /** The result of `find` for a set of records, which is kept until the watches change. `set`: its type and text. */
  ofSet(set: string, find: () => readonly Watch[]): readonly Watch[] {
    const known = this.#ofSets.get(set)
    if (known !== undefined) return known
    const found = find()
    if (this.#ofSets.size === MAX_KEPT_SETS) this.#ofSets.clear()
    this.#ofSets.set(set, found)
    return found
  }

  /** The watches of an address and of the networks that it belongs to. */
  ofAddress(address: IpAddress): readonly Watch[] {
    let found = this.#bySubject.address.get(address) ?? NOTHING
    if (this.#networks.size === 0) return found
    const hex = packToHex(address)
    const bits = 4 * (hex.length - FAMILY_DIGITS)
    for (const [length, network] of this.#networks)
      if (length <= bits) found = joined(found, network.get(firstBits(hex, length)))
    return found
  }

  /** The map that has a watch, and under which subject. */
  #placeOf({ value }: Watch, kind: SubjectKind): [map: Map<string, Watch[]>, subject: string] {
    if (kind !== 'address' || !value.includes('/')) return [this.#bySubject[kind], value]
    const { address, length } = prefixOfValue(value)
    const network = this.#networks.get(length) ?? new Map<string, Watch[]>()
    this.#networks.set(length, network)
    return [network, firstBits(packToHex(address), length)]
  }
}

const NOTHING: readonly Watch[] = []

/** Both lists. Most are empty: then nothing is allocated, because that costs more than the look-ups. */
function joined(some: readonly Watch[], others: readonly Watch[] = NOTHING): readonly Watch[] {
  if (others.length === 0) return some
  return some.length === 0 ? others : [...some, ...others]
}

/** Sets of records whose watches are kept. */
const MAX_KEPT_SETS = 8_192
/** The digits of a packed address that say its family. */
const FAMILY_DIGITS = 2

/** The family and the first bits of a packed address, in hexadecimal. */
function firstBits(hex: string, length: number): string {
  const digits = FAMILY_DIGITS + (length >> 2)
  const rest = length & 3
  if (rest === 0) return hex.slice(0, digits)
  return hex.slice(0, digits) + (Number.parseInt(hex[digits]!, 16) >> (4 - rest))
}
