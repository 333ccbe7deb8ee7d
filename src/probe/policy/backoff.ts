/** The backoff of addresses: how long the crawler avoids an address, by its responses to earlier probes. */

import type { IpAddress } from '../../values/ip-address.ts'
import type { HttpResponse } from '../http/exchange.ts'
import { LruMap } from '../lru-map.ts'
import type { PolitenessLimiter } from './politeness-limiter.ts'
import { requestedBackoff } from './retry-after.ts'

export type BackoffTracker = { beginProbe(): ProbeBackoff }

export type ProbeBackoff = {
  /** Records a response from an address. */
  recordResponse(address: IpAddress, response: Pick<HttpResponse, 'status' | 'header'>): void
  end(): void
}

/**
 * The longest accepted backoff in milliseconds, by the number of probes in a row that ended with a backoff. One
 * customer of a shared address must not block all others.
 */
const MAX_BACKOFF_MS = [60_000, 60 * 60_000, 24 * 60 * 60_000] as const
/** Addresses with remembered backoffs. */
const MAX_TRACKED_ADDRESSES = 20_000

/** `now`: milliseconds since 1970. */
export function createBackoffTracker(limiter: Pick<PolitenessLimiter, 'backOff'>, now: () => number): BackoffTracker {
  const consecutive = new LruMap<IpAddress, number>(MAX_TRACKED_ADDRESSES)
  return {
    beginProbe() {
      const requested = new Map<IpAddress, boolean>()
      return {
        recordResponse(address, response) {
          const milliseconds = requestedBackoff(response, now())
          requested.set(address, milliseconds !== null || requested.get(address) === true)
          if (milliseconds === null) return
          limiter.backOff(
            address,
            Math.min(milliseconds, MAX_BACKOFF_MS[Math.min(consecutive.get(address) ?? 0, MAX_BACKOFF_MS.length - 1)]!),
          )
        },
        end() {
          for (const [address, isRequested] of requested) {
            if (isRequested) consecutive.set(address, (consecutive.get(address) ?? 0) + 1)
            else consecutive.delete(address)
          }
        },
      }
    },
  }
}
