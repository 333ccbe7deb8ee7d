/** The rate limiter of one probe: it waits at each address that the probe connects to, within its limits. */

import type { IpAddress } from '../../values/ip-address.ts'
import { effectiveAddress } from '../guard.ts'
import type { WebLimits } from '../http/limits.ts'
import type { VettedEndpoint } from '../probe-result.ts'
import type { PolitenessLimiter } from './politeness-limiter.ts'

type ProbeRateLimiterOptions = {
  /** Null disables waiting. */
  politeness: Pick<PolitenessLimiter, 'wait' | 'acquire' | 'backoffRemaining'> | null
  limits: Pick<WebLimits, 'firstRateLimitWaitMs' | 'totalRateLimitWaitMs'>
  /** Addresses at which the probe already has a grant. */
  granted: readonly IpAddress[]
}

export class ProbeRateLimiter {
  readonly #options: ProbeRateLimiterOptions
  readonly #granted: Set<IpAddress>
  /** The address of the current or last wait, and the total wait. */
  #waitingFor: IpAddress | null = null
  #waitedMs = 0
  #wakeUp: (() => void) | null = null
  #isCancelled = false
  /**
   * The first address at which a host was unreachable because of the rate limit. The result of the probe then does not
   * count.
   */
  deferredAt: IpAddress | null = null

  constructor(options: ProbeRateLimiterOptions) {
    this.#options = options
    this.#granted = new Set(options.granted.map(effectiveAddress))
  }

  /** Sorts the endpoints by ascending wait. Equal waits keep their order. */
  sortByWait(endpoints: readonly VettedEndpoint[]): readonly VettedEndpoint[] {
    const { politeness } = this.#options
    if (politeness === null || endpoints.length < 2) return endpoints
    const wait = (endpoint: VettedEndpoint): number =>
      this.isExempt(endpoint) ? 0 : politeness.wait({ addresses: [endpoint.address] })
    const waits = endpoints.map((endpoint) => ({ endpoint, wait: wait(endpoint) }))
    return waits.toSorted((a, b) => a.wait - b.wait).map(({ endpoint }) => endpoint)
  }

  /**
   * Waits for a grant. Returns true at once if the probe has one at this address, and false if the wait is too long.
   */
  async acquire(endpoint: VettedEndpoint): Promise<boolean> {
    const { politeness, limits } = this.#options
    if (politeness === null || this.isExempt(endpoint)) return true
    const targets = { addresses: [endpoint.address] }
    const maxWaitMs =
      this.#granted.size === 0 ? limits.firstRateLimitWaitMs : limits.totalRateLimitWaitMs - this.#waitedMs
    if (this.#isCancelled || politeness.wait(targets) > maxWaitMs) return false
    const wait = politeness.acquire(targets)
    this.#granted.add(effectiveAddress(endpoint.address))
    if (wait > 0) await this.#sleep(wait, endpoint.address)
    if (this.#isCancelled || wait === 0 || politeness.backoffRemaining(targets) <= 0) return !this.#isCancelled
    this.#granted.delete(effectiveAddress(endpoint.address)) // a backoff started after the grant
    return this.acquire(endpoint)
  }

  /** Ends all waits because the probe timed out. If one was in progress, the result does not count. */
  cancel(): void {
    this.#isCancelled = true
    this.deferredAt ??= this.#waitingFor
    this.#wakeUp?.()
  }

  isExempt({ address, isOwn }: VettedEndpoint): boolean {
    return isOwn === true || this.#granted.has(effectiveAddress(address))
  }

  #sleep(milliseconds: number, at: IpAddress): Promise<void> {
    this.#waitingFor = at
    this.#waitedMs += milliseconds
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
