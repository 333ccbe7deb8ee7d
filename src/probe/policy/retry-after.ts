/** The backoff that a response requests (RFC 6585, section 4; RFC 9110, section 10.2.3). */

import type { HttpResponse } from '../http/exchange.ts'

/** Milliseconds if a 429 has no Retry-After. */
const DEFAULT_BACKOFF_MS = 60_000
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [ \w:-]{14,30}$/

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
