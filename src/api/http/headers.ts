/** The headers of responses: common ones, rate limit, Observed-At and CORS. */

import type { LastObserved } from '../../store/port/store.ts'
import { formatInstant, type Instant, secondsToMidnight } from '../../values/time.ts'
import type { Caller } from '../auth/authenticator.ts'

/** Names and values alternately, the form that node:http accepts. */
export type Headers = readonly string[]

/** The origins whose web pages may read responses; `*` for all. */
export type Cors = '*' | readonly string[]

const EXPOSED_HEADERS = [
  'Request-Id, RateLimit-Policy, RateLimit, Retry-After, Observed-At, Next-Cursor, Truncated-Types',
  'Content-Disposition, Content-Range, Accept-Ranges, ETag, Repr-Digest',
].join(', ')
/** Seconds for which a browser may cache the result of a preflight request. */
const PREFLIGHT_MAX_AGE_SECONDS = '86400'

/** The headers of every response that is specific to a caller. */
export const COMMON_HEADERS: Headers = [
  'Cache-Control',
  'private, no-store',
  'Referrer-Policy',
  'no-referrer',
  'X-Content-Type-Options',
  'nosniff',
]

/**
 * RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-10) for a caller with `remaining` calls; none if
 * the caller has no limit.
 */
export function rateLimitHeaders({ limits, now }: Caller, remaining: number): string[] {
  if (limits.dailyCalls === null) return []
  return [
    'RateLimit-Policy',
    `"daily";q=${limits.dailyCalls};w=86400`,
    'RateLimit',
    `"daily";r=${remaining};t=${secondsToMidnight(now)}`,
  ]
}

/** Adds Observed-At, a dictionary (RFC 9651) with the times of the last DNS and web observations, if there are any. */
export function addObservedAt(headers: string[], { dns, web }: LastObserved): void {
  const both = dns !== null && web !== null
  if (dns === null && web === null) return
  const value =
    (dns === null ? '' : observedAtEntry('dns', dns)) +
    (both ? ', ' : '') +
    (web === null ? '' : observedAtEntry('web', web))
  headers.push('Observed-At', value)
}

function observedAtEntry(key: string, instant: Instant): string {
  return `${key}="${formatInstant(instant)}Z"`
}

/** The headers of a response to OPTIONS: the methods of the path, and permission for browsers to use them. */
export function preflightHeaders(cors: Cors, allow: string): Headers {
  if (cors.length === 0) return ['Allow', allow]
  return [
    'Allow',
    allow,
    'Access-Control-Allow-Methods',
    allow,
    'Access-Control-Allow-Headers',
    'Content-Type, Accept, Authorization, Range, If-Range, If-None-Match, If-Modified-Since',
    'Access-Control-Max-Age',
    PREFLIGHT_MAX_AGE_SECONDS,
  ]
}

const OPEN_CORS_HEADERS: Headers = [
  'Vary',
  'Accept-Encoding',
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  EXPOSED_HEADERS,
]
const NO_CORS_HEADERS: Headers = ['Vary', 'Accept-Encoding']

/** Vary, and the permission for pages of this origin to read the response; never with credentials. */
export function corsHeaders(cors: Cors, origin: string | undefined): Headers {
  if (cors === '*') return OPEN_CORS_HEADERS
  if (cors.length === 0) return NO_CORS_HEADERS
  const vary = ['Vary', 'Accept-Encoding, Origin']
  if (origin === undefined || !cors.includes(origin)) return vary
  return [...vary, 'Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED_HEADERS]
}
