/** The path to each resolver: its concurrency limiter and its EDNS support. Probes and self-checks share it. */

import { DnsConcurrencyLimiter } from './concurrency-limiter.ts'
import type { DnsServer } from './server.ts'

/** After this many queries in a row that pass only without EDNS, the path counts as changed. */
const PLAIN_ANSWERS_UNTIL_DROPPED = 5

/** Milliseconds after which EDNS is tried again on a path that drops it. */
const EDNS_RETRY_AFTER_MS = 600_000

/** Whether the path to one resolver passes queries with EDNS. Some firewalls drop them (RFC 6891, section 7). */
class EdnsSupport {
  readonly #nowMs: () => number
  #state: 'unknown' | 'passes' | 'dropped' = 'unknown'
  #droppedAt = 0
  #plainInARow = 0

  /** `nowMs`: milliseconds of a monotonic clock. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  get isDropped(): boolean {
    return this.#state === 'dropped'
  }

  /** Whether an attempt uses EDNS. `hasTimedOut`: an earlier attempt timed out; `isLast`: no other attempt follows. */
  shouldUse({ hasTimedOut, isLast }: { hasTimedOut: boolean; isLast: boolean }): boolean {
    if (this.#state === 'dropped') return !hasTimedOut && this.#nowMs() - this.#droppedAt >= EDNS_RETRY_AFTER_MS
    return !hasTimedOut || (this.#state === 'passes' && !isLast)
  }

  /** Records an answered query. `hasTimedOut`: an earlier attempt with EDNS timed out. */
  recordAnswer({ hasEdns, hasTimedOut }: { hasEdns: boolean; hasTimedOut: boolean }): void {
    if (hasEdns) {
      this.#state = 'passes'
      this.#plainInARow = 0
    } else if (hasTimedOut && (++this.#plainInARow >= PLAIN_ANSWERS_UNTIL_DROPPED || this.#state !== 'passes')) {
      this.#state = 'dropped'
      this.#droppedAt = this.#nowMs()
    }
  }
}

export type DnsServerPath = { readonly limiter: DnsConcurrencyLimiter; readonly edns: EdnsSupport }

export class DnsServerPaths {
  readonly #paths = new Map<string, DnsServerPath>()
  readonly #makeLimiter: () => DnsConcurrencyLimiter

  constructor(makeLimiter = () => new DnsConcurrencyLimiter()) {
    this.#makeLimiter = makeLimiter
  }

  of({ address, port }: DnsServer): DnsServerPath {
    const key = `${address} ${port}`
    const path = this.#paths.get(key) ?? { limiter: this.#makeLimiter(), edns: new EdnsSupport() }
    this.#paths.set(key, path)
    return path
  }
}
