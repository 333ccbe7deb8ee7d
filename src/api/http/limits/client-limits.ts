/** What one client address may ask of a process before its token is looked at: requests a second, and tokens that are none. */

import { clientAddressKey, clientRangeMatcher } from '../../../values/client-address.ts'
import { ApiError, overloadedError } from '../../errors.ts'
import type { RejectionReason } from '../../metrics.ts'

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
export const NO_CLIENT_LIMITS: ClientLimitSettings = { clientRequests: 0, clientFailures: 0, clientExempt: [] }

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
/** Addresses that are counted within one span; further ones push out those that came first. */
const MAX_TRACKED_ADDRESSES = 50_000

export class ClientLimits {
  readonly #settings: ClientLimitSettings
  readonly #isExempt: (address: string) => boolean
  readonly #onReject: (reason: RejectionReason) => void
  readonly #requests: WindowCounter
  readonly #failures: WindowCounter

  /** `ticks`: milliseconds of a clock that is never set. */
  constructor(settings: ClientLimitSettings, monotonicMs: () => number, onReject: (reason: RejectionReason) => void) {
    this.#settings = settings
    this.#onReject = onReject
    const isExempt = clientRangeMatcher(settings.clientExempt)
    const known = new Map<string, boolean>()
    this.#isExempt = (address) => memoize(known, address, isExempt)
    this.#requests = new WindowCounter(SECOND_MS, monotonicMs)
    this.#failures = new WindowCounter(MINUTE_MS, monotonicMs)
  }

  /** Counts a request. Throws the refusal of one too many. */
  countRequest(address: string): void {
    const { clientRequests: max } = this.#settings
    if (max === 0 || this.#isExempt(address)) return
    if (this.#requests.add(clientAddressKey(address)) <= max) return
    this.#onReject('client_requests')
    throw overloadedError(`There are more than ${max} requests a second from this address: slow down.`)
  }

  /** Counts a token that was missing or is none. */
  countFailure(address: string): void {
    if (this.#settings.clientFailures > 0 && !this.#isExempt(address)) this.#failures.add(clientAddressKey(address))
  }

  /** Throws the refusal of a token that is not known, from an address with too many that were none. */
  checkFailures(address: string): void {
    const { clientFailures: max } = this.#settings
    if (max === 0 || this.#isExempt(address)) return
    if (this.#failures.count(clientAddressKey(address)) < max) return
    this.#onReject('client_failures')
    const seconds = Math.ceil(this.#failures.millisecondsLeft / 1_000)
    throw new ApiError('internal_error', {
      msg: `There were ${max} failed authentications within a minute from this address: check the token, and try again in ${seconds} seconds.`,
      retryAfter: seconds,
    })
  }
}

/** Counts by key within spans of time that follow each other. */
class WindowCounter {
  readonly #windowMilliseconds: number
  readonly #monotonicMs: () => number
  #counts = new Map<string, number>()
  #windowEnd = Number.NEGATIVE_INFINITY

  constructor(windowMilliseconds: number, monotonicMs: () => number) {
    this.#windowMilliseconds = windowMilliseconds
    this.#monotonicMs = monotonicMs
  }

  /** Milliseconds until the span ends. */
  get millisecondsLeft(): number {
    return Math.max(1, this.#windowEnd - this.#monotonicMs())
  }

  count(key: string): number {
    this.#startWindowIfOver()
    return this.#counts.get(key) ?? 0
  }

  add(key: string): number {
    const count = this.count(key) + 1
    this.#counts.set(key, count)
    if (this.#counts.size > MAX_TRACKED_ADDRESSES) this.#counts.delete(this.#counts.keys().next().value!)
    return count
  }

  #startWindowIfOver(): void {
    const now = this.#monotonicMs()
    if (now < this.#windowEnd) return
    this.#windowEnd = now + this.#windowMilliseconds
    this.#counts = new Map()
  }
}

/** What a rule says of a key, asked once while the key is remembered. */
function memoize(known: Map<string, boolean>, key: string, rule: (key: string) => boolean): boolean {
  const said = known.get(key)
  if (said !== undefined) return said
  const says = rule(key)
  known.set(key, says)
  if (known.size > MAX_TRACKED_ADDRESSES) known.delete(known.keys().next().value!)
  return says
}
