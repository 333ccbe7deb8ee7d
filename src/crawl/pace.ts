/** The pace: when a visit's turn comes at an address, its network and its name servers, so that none is visited too often. */

import { hash } from 'node:crypto'
import { type Address, family, packedHex } from '../words/address.ts'
import { reachedAt } from './guard.ts'
import { Recent } from './recent.ts'

/** Where a visit goes. `servers`: the names of the NS records, sorted and joined by a space. */
export type Places = { addresses?: readonly Address[]; servers?: string }

/**
 * An address counts for itself and for its network, the /24 or /48 around it; one behind NAT64 as the IPv4 address. What is
 * remembered is that of the places used last, so that memory is bounded.
 */
export type Pace = {
  /** Milliseconds until a visit may begin that goes to all of these, 0 for now. Asks only. */
  wait(places: Places): number
  /** Takes the turn at all of these at once, the first that is free; milliseconds until it comes, 0 for now. */
  take(places: Places): number
  /** How many names are known at an address, or at a set of name servers; the rate grows with them. */
  learn(place: { address: Address } | { servers: string }, names: number): void
  /** An address that asked to be left alone: no turn comes there for so many milliseconds. */
  rest(address: Address, milliseconds: number): void
  /** Milliseconds until none of the addresses rests, 0 for now: it may have come to rest after a turn there was taken. */
  restOf(places: Places): number
  /** From now on this process has one part in `live` of the installation's pace. */
  divide(live: number): void
}

/** `ticks`: milliseconds of a clock that is never set back. `kept`: places remembered, at most. */
type PaceOptions = { ticks: () => number; kept?: number }

/** Visits a second, of all crawlers of an installation together. */
type Rate = { least: number; most: number }
type Kind = 'address' | 'network' | 'servers'

/** `turns`: those to come, ascending, behind the last one that has come. `names`: known there. */
type Spot = { kind: Kind; turns: number[]; names: number }

export const RATES: Record<Kind, Rate> = {
  address: { least: 1, most: 20 },
  network: { least: 5, most: 100 },
  servers: { least: 20, most: 500 },
}

/** Seconds in which all names known at a place have their turn: a third of the longest time between visits, 30 days. */
export const ROUND_SECONDS = 10 * 24 * 60 * 60

const KEPT = 100_000
/** Characters of a key; a longer set of name servers is known by its digest. */
const KEY_LENGTH = 256

/** Visits a second at a place where so many names are known. */
export function rateOf(kind: Kind, names: number): number {
  const { least, most } = RATES[kind]
  return Math.min(most, Math.max(least, names / ROUND_SECONDS))
}

export function makePace({ ticks, kept = KEPT }: PaceOptions): Pace {
  const spots = new Spots(kept)
  return {
    wait(places) {
      const now = ticks()
      return spots.firstFree(keysOf(places), now) - now
    },
    take(places) {
      const now = ticks()
      const keys = keysOf(places)
      const turn = spots.firstFree(keys, now)
      for (const key of keys) put(spots.use(key).turns, turn, now)
      return turn - now
    },
    learn(place, names) {
      const [key = '', network] = keysOf('address' in place ? { addresses: [place.address] } : place)
      const spot = spots.use(key)
      if (network !== undefined) spots.use(network).names += names - spot.names
      spot.names = names
    },
    rest(address, milliseconds) {
      const [key = ''] = keysOf({ addresses: [address] })
      spots.rest(key, ticks() + milliseconds)
    },
    restOf(places) {
      const now = ticks()
      return spots.restEnd(keysOf(places), now) - now
    },
    divide(live) {
      spots.parts = Math.max(1, live)
    },
  }
}

/** What is remembered of the places used last, by their keys. */
class Spots {
  readonly #spots: Recent<string, Spot>
  /** When it ends. */
  readonly #rests: Recent<string, number>
  /** Of how many crawlers this one is. */
  parts = 1

  constructor(kept: number) {
    this.#spots = new Recent(kept, (key, spot) => this.#dropped(key, spot))
    this.#rests = new Recent(kept)
  }

  /** The spot of a key, as the one used last. */
  use(key: string): Spot {
    const spot = this.#spots.get(key) ?? { kind: KINDS[key[0]!]!, turns: [], names: 0 }
    this.#spots.use(key, spot)
    return spot
  }

  /** A network is used whenever an address of it is, right after it, and so goes later than they. */
  #dropped(key: string, { kind, names }: Spot): void {
    const network = kind === 'address' ? this.#spots.get(networkKey(key.slice(1) as Address)) : undefined
    if (network !== undefined) network.names -= names
  }

  /** No turn comes there before `until`. */
  rest(key: string, until: number): void {
    this.#rests.use(key, Math.max(until, this.#rests.get(key) ?? 0))
  }

  /** The first moment from `now` on at which none of them rests. */
  restEnd(keys: readonly string[], now: number): number {
    return keys.reduce((end, key) => Math.max(end, this.#rests.get(key) ?? 0), now)
  }

  /** The first moment from `now` on that is free at all of them. */
  firstFree(keys: readonly string[], now: number): number {
    let free = this.restEnd(keys, now)
    for (let before = Number.NaN; before !== free; ) {
      before = free
      for (const key of keys) {
        const spot = this.#spots.get(key)
        if (spot !== undefined) free = fit(spot.turns, free, intervalOf(spot, this.parts))
      }
    }
    return free
  }
}

/** The kind of a place by the first letter of its key. */
const KINDS: Record<string, Kind> = { a: 'address', n: 'network', s: 'servers' }

/** The address before its network; each once. */
function keysOf({ addresses = [], servers }: Places): string[] {
  const keys = new Set<string>()
  for (const given of addresses) {
    const address = reachedAt(given)
    keys.add(`a${address}`)
    keys.add(networkKey(address))
  }
  if (servers) keys.add(`s${servers.length > KEY_LENGTH ? hash('sha256', servers) : servers}`)
  return [...keys]
}

/** Of the family and 24 or 48 bits, as hexadecimal digits. */
function networkKey(address: Address): string {
  return `n${packedHex(address).slice(0, family(address) === 4 ? 8 : 14)}`
}

/** Milliseconds between two turns. */
function intervalOf({ kind, names }: Spot, parts: number): number {
  return (1000 / rateOf(kind, names)) * parts
}

/** The first moment from `from` on that is an interval away from every turn. */
function fit(turns: readonly number[], from: number, interval: number): number {
  let free = from
  for (const turn of turns) {
    if (turn >= free + interval) break
    if (turn > free - interval) free = turn + interval
  }
  return free
}

/** Puts a turn in its place; of those that have come only the last one still counts. */
function put(turns: number[], turn: number, now: number): void {
  let at = turns.length
  while (at > 0 && turns[at - 1]! > turn) at--
  turns.splice(at, 0, turn)
  const came = turns.findLastIndex((each) => each <= now)
  if (came > 0) turns.splice(0, came)
}
