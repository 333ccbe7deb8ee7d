/** The rests of addresses: how long those that ask to be left alone are, by what they answered to the visits before. */

import type { IpAddress } from '../../values/ip-address.ts'
import type { HttpResponse } from '../http/exchange.ts'
import { LruMap } from '../lru-map.ts'
import type { PolitenessLimiter } from './politeness-limiter.ts'
import { requestedBackoff } from './retry-after.ts'

export type BackoffTracker = { beginProbe(): ProbeBackoff }

export type ProbeBackoff = {
  /** An answer that came from an address. */
  recordResponse(address: IpAddress, response: Pick<HttpResponse, 'status' | 'header'>): void
  end(): void
}

/**
 * Milliseconds that an address may have us stay away, by how many visits in a row it asked before: one customer of a shared
 * address must not keep us from all the others.
 */
const MAX_BACKOFF_MS = [60_000, 60 * 60_000, 24 * 60 * 60_000] as const
/** Addresses of which that is remembered. */
const MAX_TRACKED_ADDRESSES = 20_000

/** `now`: milliseconds since 1970. */
export function createBackoffTracker(limiter: Pick<PolitenessLimiter, 'backOff'>, now: () => number): BackoffTracker {
  const consecutive = new LruMap<IpAddress, number>(MAX_TRACKED_ADDRESSES)
  return {
    beginProbe() {
      const requested = new Map<IpAddress, boolean>()
      return {
        recordResponse(address, reply) {
          const milliseconds = requestedBackoff(reply, now())
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
