/** The politeness limiter: decides when a probe may contact an address, its network and its name servers. */

import { hash } from 'node:crypto'
import { addressFamily, type IpAddress, packToHex } from '../../values/ip-address.ts'
import { effectiveAddress } from '../guard.ts'
import { LruMap } from '../lru-map.ts'

/** The targets of a probe. `nameServers`: the names of the NS records, sorted and joined by a space. */
export type RateLimitTargets = { addresses?: readonly IpAddress[]; nameServers?: string }

/**
 * An address counts for itself and for its network, the surrounding /24 or /48. An address behind NAT64 counts as its
 * IPv4 address. The limiter remembers only the targets used last, so its memory is bounded.
 */
export type PolitenessLimiter = {
  /** Milliseconds until a probe of all these targets may start. 0 means now. Changes nothing. */
  wait(targets: RateLimitTargets): number
  /** Reserves the first time that is free at all targets. Returns the milliseconds until then. 0 means now. */
  acquire(targets: RateLimitTargets): number
  /** Sets how many names are known at an address or a set of name servers. The rate grows with them. */
  setNameCount(target: { address: IpAddress } | { nameServers: string }, names: number): void
  /** Blocks an address for this many milliseconds because it requested a backoff. */
  backOff(address: IpAddress, milliseconds: number): void
  /** Milliseconds until no address is in backoff. 0 means now. A backoff may start after a probe was granted. */
  backoffRemaining(targets: RateLimitTargets): number
  /** From now on this process uses one share in `live` of the installation's rate. */
  setLiveCrawlers(live: number): void
}

/** `nowMs`: milliseconds of a monotonic clock. `maxTargets`: the largest number of remembered targets. */
type PolitenessLimiterOptions = { nowMs: () => number; maxTargets?: number }

/** Probes per second of all crawlers of an installation together. */
type RateBounds = { min: number; max: number }
type TargetKind = 'address' | 'network' | 'servers'

/** `grants`: future times in ascending order, after the latest past one. `names`: the number of known names. */
type TargetState = { kind: TargetKind; grants: number[]; names: number }

export const RATE_BOUNDS: Record<TargetKind, RateBounds> = {
  address: { min: 1, max: 20 },
  network: { min: 5, max: 100 },
  servers: { min: 20, max: 500 },
}

/**
 * The seconds in which every known name of a target can be probed once: a third of the longest interval between probes,
 * 30 days.
 */
export const FULL_CYCLE_SECONDS = 10 * 24 * 60 * 60

const MAX_TARGETS = 100_000
/** The longest key in characters. A longer set of name servers is identified by its digest. */
const MAX_KEY_LENGTH = 256

/** Probes per second at a target with this many known names. */
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

/** The state of the targets used last, by key. */
class TargetTable {
  readonly #targets: LruMap<string, TargetState>
  /** The end of each backoff. */
  readonly #backoffs: LruMap<string, number>
  /** The number of crawlers that share the rate. */
  liveCrawlers = 1

  constructor(maxTargets: number) {
    this.#targets = new LruMap(maxTargets, (key, state) => this.#onEvicted(key, state))
    this.#backoffs = new LruMap(maxTargets)
  }

  /** The state of a key, which becomes the most recently used. */
  use(key: string): TargetState {
    const state = this.#targets.get(key) ?? { kind: KIND_BY_PREFIX[key[0]!]!, grants: [], names: 0 }
    this.#targets.set(key, state)
    return state
  }

  /** A network is used right after each of its addresses, so it is evicted after them. */
  #onEvicted(key: string, { kind, names }: TargetState): void {
    const network = kind === 'address' ? this.#targets.get(networkKey(key.slice(1) as IpAddress)) : undefined
    if (network !== undefined) network.names -= names
  }

  /** Blocks a target before `until`. */
  backOff(key: string, until: number): void {
    this.#backoffs.set(key, Math.max(until, this.#backoffs.get(key) ?? 0))
  }

  /** The first time from `now` on at which no key is in backoff. */
  backoffEnd(keys: readonly string[], now: number): number {
    return keys.reduce((end, key) => Math.max(end, this.#backoffs.get(key) ?? 0), now)
  }

  /** The first time from `now` on that is free at all keys. */
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

/** The kind of a target by the first letter of its key. */
const KIND_BY_PREFIX: Record<string, TargetKind> = { a: 'address', n: 'network', s: 'servers' }

/** The distinct keys. Each address precedes its network. */
function targetKeys({ addresses = [], nameServers }: RateLimitTargets): string[] {
  const keys = new Set<string>()
  for (const original of addresses) {
    const address = effectiveAddress(original)
    keys.add(`a${address}`)
    keys.add(networkKey(address))
  }
  if (nameServers) keys.add(`s${nameServers.length > MAX_KEY_LENGTH ? hash('sha256', nameServers) : nameServers}`)
  return [...keys]
}

/** The family and 24 or 48 bits as hexadecimal digits. */
function networkKey(address: IpAddress): string {
  return `n${packToHex(address).slice(0, addressFamily(address) === 4 ? 8 : 14)}`
}

/** Milliseconds between two grants. */
function grantInterval({ kind, names }: TargetState, liveCrawlers: number): number {
  return (1000 / probeRateFor(kind, names)) * liveCrawlers
}

/** The first time from `from` on that is at least `interval` away from every grant. */
function firstGap(grants: readonly number[], from: number, interval: number): number {
  let free = from
  for (const grant of grants) {
    if (grant >= free + interval) break
    if (grant > free - interval) free = grant + interval
  }
  return free
}

/** Inserts a grant in order. Of the past grants it keeps only the latest. */
function insertGrant(grants: number[], grant: number, now: number): void {
  let at = grants.length
  while (at > 0 && grants[at - 1]! > grant) at--
  grants.splice(at, 0, grant)
  const lastPast = grants.findLastIndex((each) => each <= now)
  if (lastPast > 0) grants.splice(0, lastPast)
}
