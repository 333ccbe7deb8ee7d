/** The headers of answers: those of every one, the caller's budget, the age of what is told, and which pages may read it. */

import type { LastObserved } from '../../store/port/store.ts'
import { formatInstant, type Instant, secondsToMidnight } from '../../values/time.ts'
import type { Caller } from '../auth/authenticator.ts'

/** Names and values in turn, as node:http takes them. */
export type Headers = readonly string[]

/** Which web pages may read answers: all, or those of the origins listed. */
export type Cors = '*' | readonly string[]

const EXPOSED_HEADERS = [
  'Request-Id, RateLimit-Policy, RateLimit, Retry-After, Observed-At',
  'Content-Disposition, Content-Range, Accept-Ranges, ETag, Repr-Digest',
].join(', ')
/** Seconds for which a browser may remember what a preflight said. */
const PREFLIGHT_MAX_AGE_SECONDS = '86400'

/** Headers of every answer that is made for one reader. */
export const COMMON_HEADERS: Headers = [
  'Cache-Control',
  'private, no-store',
  'Referrer-Policy',
  'no-referrer',
  'X-Content-Type-Options',
  'nosniff',
]

/** Headers of a document that is the same for every reader. */
export function documentHeaders(requestId: string): string[] {
  const common = ['Referrer-Policy', 'no-referrer', 'X-Content-Type-Options', 'nosniff', 'Vary', 'Accept-Encoding']
  return ['Request-Id', requestId, ...common, 'Cache-Control', 'public, max-age=0']
}

/** RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-10) of a caller who has `remaining` calls left; none without a limit. */
export function rateLimitHeaders({ limits, now }: Caller, remaining: number): string[] {
  if (limits.dailyCalls === null) return []
  return [
    'RateLimit-Policy',
    `"daily";q=${limits.dailyCalls};w=86400`,
    'RateLimit',
    `"daily";r=${remaining};t=${secondsToMidnight(now)}`,
  ]
}

/** Adds Observed-At, a dictionary (RFC 9651): when DNS and web were last looked at; nothing for never. */
export function addObservedAt(headers: string[], { dns, web }: LastObserved): void {
  const both = dns !== null && web !== null
  if (dns === null && web === null) return
  const looks =
    (dns === null ? '' : observedAtEntry('dns', dns)) +
    (both ? ', ' : '') +
    (web === null ? '' : observedAtEntry('web', web))
  headers.push('Observed-At', looks)
}

function observedAtEntry(key: string, instant: Instant): string {
  return `${key}="${formatInstant(instant)}Z"`
}

/** What OPTIONS answers with: which methods a path has, and that browsers may send them. */
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

/** Vary, and whether the page of this origin may read the answer; never with credentials. */
export function corsHeaders(cors: Cors, origin: string | undefined): Headers {
  if (cors === '*') return OPEN_CORS_HEADERS
  if (cors.length === 0) return NO_CORS_HEADERS
  const vary = ['Vary', 'Accept-Encoding, Origin']
  if (origin === undefined || !cors.includes(origin)) return vary
  return [...vary, 'Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED_HEADERS]
}
