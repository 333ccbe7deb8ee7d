/** What one client address may ask of a process before its token is looked at: requests a second, and tokens that are none. */

import { clientKey, rangesHold } from '../words/client-address.ts'
import { overloaded, Refusal } from './errors.ts'
import type { RefusedFor } from './metrics.ts'

/** The settings of these limits; 0 for no limit. */
export type ClientLimitSettings = {
  /** Requests a second. */
  clientRequests: number
  /** Failed authentications a minute. */
  clientFailures: number
  /** Addresses and ranges without limits. */
  clientExempt: readonly string[]
}

/** For an API that nobody gives settings. */
export const NO_LIMITS: ClientLimitSettings = { clientRequests: 0, clientFailures: 0, clientExempt: [] }

const SECOND = 1_000
const MINUTE = 60_000
/** Addresses that are counted within one span; further ones push out those that came first. */
const COUNTED = 50_000

export class ClientLimits {
  readonly #settings: ClientLimitSettings
  readonly #isExempt: (address: string) => boolean
  readonly #refuse: (reason: RefusedFor) => void
  readonly #requests: Counter
  readonly #failures: Counter

  /** `ticks`: milliseconds of a clock that is never set. */
  constructor(settings: ClientLimitSettings, ticks: () => number, refuse: (reason: RefusedFor) => void) {
    this.#settings = settings
    this.#refuse = refuse
    const isExempt = rangesHold(settings.clientExempt)
    const known = new Map<string, boolean>()
    this.#isExempt = (address) => remember(known, address, isExempt)
    this.#requests = new Counter(SECOND, ticks)
    this.#failures = new Counter(MINUTE, ticks)
  }

  /** Counts a request. Throws the refusal of one too many. */
  countRequest(address: string): void {
    const { clientRequests: max } = this.#settings
    if (max === 0 || this.#isExempt(address)) return
    if (this.#requests.add(clientKey(address)) <= max) return
    this.#refuse('client_requests')
    throw overloaded(`There are more than ${max} requests a second from this address: slow down.`)
  }

  /** Counts a token that was missing or is none. */
  countFailure(address: string): void {
    if (this.#settings.clientFailures > 0 && !this.#isExempt(address)) this.#failures.add(clientKey(address))
  }

  /** Throws the refusal of a token that is not known, from an address with too many that were none. */
  expectFewFailures(address: string): void {
    const { clientFailures: max } = this.#settings
    if (max === 0 || this.#isExempt(address)) return
    if (this.#failures.count(clientKey(address)) < max) return
    this.#refuse('client_failures')
    const seconds = Math.ceil(this.#failures.left / 1_000)
    throw new Refusal('internal_error', {
      msg: `There were ${max} failed authentications within a minute from this address: check the token, and try again in ${seconds} seconds.`,
      retryAfter: seconds,
    })
  }
}

/** Counts by key within spans of time that follow each other. */
class Counter {
  readonly #span: number
  readonly #ticks: () => number
  #counts = new Map<string, number>()
  #until = Number.NEGATIVE_INFINITY

  constructor(span: number, ticks: () => number) {
    this.#span = span
    this.#ticks = ticks
  }

  /** Milliseconds until the span ends. */
  get left(): number {
    return Math.max(1, this.#until - this.#ticks())
  }

  count(key: string): number {
    this.#turn()
    return this.#counts.get(key) ?? 0
  }

  add(key: string): number {
    const count = this.count(key) + 1
    this.#counts.set(key, count)
    if (this.#counts.size > COUNTED) this.#counts.delete(this.#counts.keys().next().value!)
    return count
  }

  #turn(): void {
    const now = this.#ticks()
    if (now < this.#until) return
    this.#until = now + this.#span
    this.#counts = new Map()
  }
}

/** What a rule says of a key, asked once while the key is remembered. */
function remember(known: Map<string, boolean>, key: string, rule: (key: string) => boolean): boolean {
  const said = known.get(key)
  if (said !== undefined) return said
  const says = rule(key)
  known.set(key, says)
  if (known.size > COUNTED) known.delete(known.keys().next().value!)
  return says
}
