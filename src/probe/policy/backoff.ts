/**
 * The backoff of addresses: how long the crawler avoids an address, by its responses to earlier probes (RFC 6585; RFC
 * 9110, section 10.2.3).
 */

import type { IpAddress } from '../../values/ip-address.ts'
import type { HttpResponse } from '../http/exchange.ts'
import { LruMap } from '../lru-map.ts'
import type { PolitenessLimiter } from './politeness-limiter.ts'

/** Milliseconds if a 429 has no Retry-After. */
const DEFAULT_BACKOFF_MS = 60_000
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [ \w:-]{14,30}$/

export type BackoffTracker = { beginProbe(): ProbeBackoff }

type ProbeBackoff = {
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

/**
 * The requested backoff in milliseconds, for 429, and for 503 with Retry-After. Returns null for other responses.
 * `now`: milliseconds since 1970.
 */
export function requestedBackoff(response: Pick<HttpResponse, 'status' | 'header'>, now: number): number | null {
  const { status } = response
  if (status !== 429 && status !== 503) return null
  const retryAfter = response.header('retry-after')
  const delayMs = retryAfter === null ? null : parseRetryAfter(retryAfter.trim(), now)
  return delayMs ?? (status === 429 ? DEFAULT_BACKOFF_MS : null)
}

/** Parses seconds, or a date in one of the three formats of RFC 9110, section 5.6.7. Returns null for other text. */
function parseRetryAfter(text: string, now: number): number | null {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  if (!HTTP_DATE.test(text)) return null
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
