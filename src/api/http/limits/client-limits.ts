/** The limits of one client address in one process: requests per second and failed authentications per minute. */

import { clientAddressKey, clientRangeMatcher } from '../../../values/client-address.ts'
import { ApiError, overloadedError } from '../errors.ts'
import type { RejectionReason } from '../metrics.ts'

/** The settings of these limits; 0 for no limit. */
export type ClientLimitSettings = {
  /** Requests per second. */
  clientRequests: number
  /** Failed authentications per minute. */
  clientFailures: number
  /** Addresses and ranges without limits. */
  clientExempt: readonly string[]
}

/** The defaults of an API without these settings. */
export const NO_CLIENT_LIMITS: ClientLimitSettings = { clientRequests: 0, clientFailures: 0, clientExempt: [] }

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
/** The maximum number of addresses that are tracked. Further ones replace the oldest. */
const MAX_TRACKED_ADDRESSES = 50_000

export class ClientLimits {
  readonly #settings: ClientLimitSettings
  readonly #isExempt: (address: string) => boolean
  readonly #onReject: (reason: RejectionReason) => void
  readonly #requests: WindowCounter
  readonly #failures: WindowCounter

  /** `onReject` is called for every rejected request. */
  constructor(settings: ClientLimitSettings, monotonicMs: () => number, onReject: (reason: RejectionReason) => void) {
    this.#settings = settings
    this.#onReject = onReject
    const isExempt = clientRangeMatcher(settings.clientExempt)
    const exemptCache = new Map<string, boolean>()
    this.#isExempt = (address) => memoize(exemptCache, address, isExempt)
    this.#requests = new WindowCounter(SECOND_MS, monotonicMs)
    this.#failures = new WindowCounter(MINUTE_MS, monotonicMs)
  }

  /** Counts a request. Throws an ApiError above the limit. */
  countRequest(address: string): void {
    const { clientRequests } = this.#settings
    if (clientRequests === 0 || this.#isExempt(address)) return
    if (this.#requests.add(clientAddressKey(address)) <= clientRequests) return
    this.#onReject('client_requests')
    throw overloadedError(`This address sends more than ${clientRequests} requests per second: slow down.`)
  }

  /** Counts a failed authentication. */
  countFailure(address: string): void {
    if (this.#settings.clientFailures > 0 && !this.#isExempt(address)) this.#failures.add(clientAddressKey(address))
  }

  /** Throws an ApiError if the address has reached its limit of failed authentications. */
  checkFailures(address: string): void {
    const { clientFailures } = this.#settings
    if (clientFailures === 0 || this.#isExempt(address)) return
    if (this.#failures.count(clientAddressKey(address)) < clientFailures) return
    this.#onReject('client_failures')
    const seconds = Math.ceil(this.#failures.millisecondsLeft / 1_000)
    throw new ApiError('internal_error', {
      msg:
        `There were ${clientFailures} failed authentications within a minute from this address: ` +
        `check the token, and try again in ${seconds} seconds.`,
      retryAfter: seconds,
    })
  }
}

/** Counts by key within consecutive windows of time. */
class WindowCounter {
  readonly #windowMilliseconds: number
  readonly #monotonicMs: () => number
  #counts = new Map<string, number>()
  #windowEnd = Number.NEGATIVE_INFINITY

  constructor(windowMilliseconds: number, monotonicMs: () => number) {
    this.#windowMilliseconds = windowMilliseconds
    this.#monotonicMs = monotonicMs
  }

  /** Milliseconds until the window ends. */
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

/** The result of a rule for a key, from a cache of bounded size. */
function memoize(cache: Map<string, boolean>, key: string, rule: (key: string) => boolean): boolean {
  const cached = cache.get(key)
  if (cached !== undefined) return cached
  const result = rule(key)
  cache.set(key, result)
  if (cache.size > MAX_TRACKED_ADDRESSES) cache.delete(cache.keys().next().value!)
  return result
}
