/** What an answer asks of those who come again: to stay away for a while (RFC 6585, chapter 4; RFC 9110, chapter 10.2.3). */

import type { HttpResponse } from '../http/exchange.ts'

/** Milliseconds where 429 does not say how long. */
const DEFAULT_BACKOFF_MS = 60_000
const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [ \w:-]{14,30}$/

/**
 * Milliseconds for which an answer asks to be left alone: 429, and 503 with Retry-After. Null for one that does not ask.
 * `now` in milliseconds since 1970.
 */
export function requestedBackoff(response: Pick<HttpResponse, 'status' | 'header'>, now: number): number | null {
  const { status } = response
  if (status !== 429 && status !== 503) return null
  const given = response.header('retry-after')
  const delayMs = given === null ? null : parseRetryAfter(given.trim(), now)
  return delayMs ?? (status === 429 ? DEFAULT_BACKOFF_MS : null)
}

/** Seconds, or a date in one of the three spellings of RFC 9110, chapter 5.6.7; null for what is neither. */
function parseRetryAfter(text: string, now: number): number | null {
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  if (!HTTP_DATE.test(text)) return null
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}
