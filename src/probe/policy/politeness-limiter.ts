/** The pace: when a visit's turn comes at an address, its network and its name servers, so that none is visited too often. */

import { hash } from 'node:crypto'
import { addressFamily, type IpAddress, packToHex } from '../../values/ip-address.ts'
import { effectiveAddress } from '../guard.ts'
import { LruMap } from '../lru-map.ts'

/** Where a visit goes. `servers`: the names of the NS records, sorted and joined by a space. */
export type RateLimitTargets = { addresses?: readonly IpAddress[]; nameServers?: string }

/**
 * An address counts for itself and for its network, the /24 or /48 around it; one behind NAT64 as the IPv4 address. What is
 * remembered is that of the places used last, so that memory is bounded.
 */
export type PolitenessLimiter = {
  /** Milliseconds until a visit may begin that goes to all of these, 0 for now. Asks only. */
  wait(targets: RateLimitTargets): number
  /** Takes the turn at all of these at once, the first that is free; milliseconds until it comes, 0 for now. */
  acquire(targets: RateLimitTargets): number
  /** How many names are known at an address, or at a set of name servers; the rate grows with them. */
  setNameCount(target: { address: IpAddress } | { nameServers: string }, names: number): void
  /** An address that asked to be left alone: no turn comes there for so many milliseconds. */
  backOff(address: IpAddress, milliseconds: number): void
  /** Milliseconds until none of the addresses rests, 0 for now: it may have come to rest after a turn there was taken. */
  backoffRemaining(targets: RateLimitTargets): number
  /** From now on this process has one part in `live` of the installation's pace. */
  setLiveCrawlers(live: number): void
}

/** `ticks`: milliseconds of a clock that is never set back. `kept`: places remembered, at most. */
type PolitenessLimiterOptions = { nowMs: () => number; maxTargets?: number }

/** Visits a second, of all crawlers of an installation together. */
type RateBounds = { min: number; max: number }
type TargetKind = 'address' | 'network' | 'servers'

/** `turns`: those to come, ascending, behind the last one that has come. `names`: known there. */
type TargetState = { kind: TargetKind; grants: number[]; names: number }

export const RATE_BOUNDS: Record<TargetKind, RateBounds> = {
  address: { min: 1, max: 20 },
  network: { min: 5, max: 100 },
  servers: { min: 20, max: 500 },
}

/** Seconds in which all names known at a place have their turn: a third of the longest time between visits, 30 days. */
export const FULL_CYCLE_SECONDS = 10 * 24 * 60 * 60

const MAX_TARGETS = 100_000
/** Characters of a key; a longer set of name servers is known by its digest. */
const MAX_KEY_LENGTH = 256

/** Visits a second at a place where so many names are known. */
export function probeRateFor(kind: TargetKind, names: number): number {
  const { min, max } = RATE_BOUNDS[kind]
  return Math.min(max, Math.max(min, names / FULL_CYCLE_SECONDS))
}

export function makePolitenessLimiter({
  nowMs,
  maxTargets = MAX_TARGETS,
}: PolitenessLimiterOptions): PolitenessLimiter {
  const targetTable = new TargetTable(maxTargets)
  return {
    wait(targets) {
      const now = nowMs()
      return targetTable.firstFree(targetKeys(targets), now) - now
    },
    acquire(targets) {
      const now = nowMs()
      const keys = targetKeys(targets)
      const grantAt = targetTable.firstFree(keys, now)
      for (const key of keys) insertGrant(targetTable.use(key).grants, grantAt, now)
      return grantAt - now
    },
    setNameCount(target, names) {
      const [key = '', network] = targetKeys('address' in target ? { addresses: [target.address] } : target)
      const state = targetTable.use(key)
      if (network !== undefined) targetTable.use(network).names += names - state.names
      state.names = names
    },
    backOff(address, milliseconds) {
      const [key = ''] = targetKeys({ addresses: [address] })
      targetTable.backOff(key, nowMs() + milliseconds)
    },
    backoffRemaining(targets) {
      const now = nowMs()
      return targetTable.backoffEnd(targetKeys(targets), now) - now
    },
    setLiveCrawlers(live) {
      targetTable.liveCrawlers = Math.max(1, live)
    },
  }
}

/** What is remembered of the places used last, by their keys. */
class TargetTable {
  readonly #targets: LruMap<string, TargetState>
  /** When it ends. */
  readonly #backoffs: LruMap<string, number>
  /** Of how many crawlers this one is. */
  liveCrawlers = 1

  constructor(maxTargets: number) {
    this.#targets = new LruMap(maxTargets, (key, state) => this.#onEvicted(key, state))
    this.#backoffs = new LruMap(maxTargets)
  }

  /** The spot of a key, as the one used last. */
  use(key: string): TargetState {
    const state = this.#targets.get(key) ?? { kind: KIND_BY_PREFIX[key[0]!]!, grants: [], names: 0 }
    this.#targets.set(key, state)
    return state
  }

  /** A network is used whenever an address of it is, right after it, and so goes later than they. */
  #onEvicted(key: string, { kind, names }: TargetState): void {
    const network = kind === 'address' ? this.#targets.get(networkKey(key.slice(1) as IpAddress)) : undefined
    if (network !== undefined) network.names -= names
  }

  /** No turn comes there before `until`. */
  backOff(key: string, until: number): void {
    this.#backoffs.set(key, Math.max(until, this.#backoffs.get(key) ?? 0))
  }

  /** The first moment from `now` on at which none of them rests. */
  backoffEnd(keys: readonly string[], now: number): number {
    return keys.reduce((end, key) => Math.max(end, this.#backoffs.get(key) ?? 0), now)
  }

  /** The first moment from `now` on that is free at all of them. */
  firstFree(keys: readonly string[], now: number): number {
    let free = this.backoffEnd(keys, now)
    for (let previous = Number.NaN; previous !== free; ) {
      previous = free
      for (const key of keys) {
        const state = this.#targets.get(key)
        if (state !== undefined) free = firstGap(state.grants, free, grantInterval(state, this.liveCrawlers))
      }
    }
    return free
  }
}

/** The kind of a place by the first letter of its key. */
const KIND_BY_PREFIX: Record<string, TargetKind> = { a: 'address', n: 'network', s: 'servers' }

/** The address before its network; each once. */
function targetKeys({ addresses = [], nameServers }: RateLimitTargets): string[] {
  const keys = new Set<string>()
  for (const given of addresses) {
    const address = effectiveAddress(given)
    keys.add(`a${address}`)
    keys.add(networkKey(address))
  }
  if (nameServers) keys.add(`s${nameServers.length > MAX_KEY_LENGTH ? hash('sha256', nameServers) : nameServers}`)
  return [...keys]
}

/** Of the family and 24 or 48 bits, as hexadecimal digits. */
function networkKey(address: IpAddress): string {
  return `n${packToHex(address).slice(0, addressFamily(address) === 4 ? 8 : 14)}`
}

/** Milliseconds between two turns. */
function grantInterval({ kind, names }: TargetState, liveCrawlers: number): number {
  return (1000 / probeRateFor(kind, names)) * liveCrawlers
}

/** The first moment from `from` on that is an interval away from every turn. */
function firstGap(grants: readonly number[], from: number, interval: number): number {
  let free = from
  for (const grant of grants) {
    if (grant >= free + interval) break
    if (grant > free - interval) free = grant + interval
  }
  return free
}

/** Puts a turn in its place; of those that have come only the last one still counts. */
function insertGrant(grants: number[], grant: number, now: number): void {
  let at = grants.length
  while (at > 0 && grants[at - 1]! > grant) at--
  grants.splice(at, 0, grant)
  const lastPast = grants.findLastIndex((each) => each <= now)
  if (lastPast > 0) grants.splice(0, lastPast)
}
