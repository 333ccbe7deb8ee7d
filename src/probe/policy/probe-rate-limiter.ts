/** The turns of one visit: it waits for one at each address that it connects to, for so long as the limits allow. */

import type { IpAddress } from '../../values/ip-address.ts'
import { effectiveAddress } from '../guard.ts'
import type { WebLimits } from '../http/limits.ts'
import type { VettedEndpoint } from '../probe-result.ts'
import type { PolitenessLimiter } from './politeness-limiter.ts'

type ProbeRateLimiterOptions = {
  /** Null where nobody has to wait. */
  politeness: Pick<PolitenessLimiter, 'wait' | 'acquire' | 'backoffRemaining'> | null
  limits: Pick<WebLimits, 'firstRateLimitWaitMs' | 'totalRateLimitWaitMs'>
  /** Addresses where the visit has its turn already. */
  granted: readonly IpAddress[]
}

export class ProbeRateLimiter {
  readonly #options: ProbeRateLimiterOptions
  readonly #granted: Set<IpAddress>
  /** The address that is waited for, or was last, and for how long all were together. */
  #waitingFor: IpAddress | null = null
  #waitedMs = 0
  #wakeUp: (() => void) | null = null
  #isCancelled = false
  /** The first address at which a host could not be reached for want of a turn: what the visit saw does not count. */
  deferredAt: IpAddress | null = null

  constructor(options: ProbeRateLimiterOptions) {
    this.#options = options
    this.#granted = new Set(options.granted.map(effectiveAddress))
  }

  /** The doors in the order of trying: as they come, those first whose turn does. */
  sortByWait(endpoints: readonly VettedEndpoint[]): readonly VettedEndpoint[] {
    const { politeness } = this.#options
    if (politeness === null || endpoints.length < 2) return endpoints
    const wait = (door: VettedEndpoint): number =>
      this.isExempt(door) ? 0 : politeness.wait({ addresses: [door.address] })
    const waits = endpoints.map((door) => ({ door, wait: wait(door) }))
    return waits.toSorted((a, b) => a.wait - b.wait).map(({ door: endpoint }) => endpoint)
  }

  /** True when the turn has come, at once where the visit had one at this address; false where it is too far off. */
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
    this.#granted.delete(effectiveAddress(endpoint.address)) // it came to rest since the turn was taken
    return this.acquire(endpoint)
  }

  /** The visit has no time left: nobody waits any longer, and where somebody has, what was seen does not count. */
  cancel(): void {
    this.#isCancelled = true
    this.deferredAt ??= this.#waitingFor
    this.#wakeUp?.()
  }

  isExempt({ address, isOwn: own }: VettedEndpoint): boolean {
    return own === true || this.#granted.has(effectiveAddress(address))
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
