/** The headers of responses: common ones, Observed-At, CORS and dates. */

import type { LastObserved } from '../../store/port/store.ts'
import { formatInstant, type Instant } from '../../values/time.ts'

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

const SAFETY_HEADERS: Headers = ['Referrer-Policy', 'no-referrer', 'X-Content-Type-Options', 'nosniff']
/** The headers of every response that is specific to a caller. */
export const COMMON_HEADERS: Headers = ['Cache-Control', 'private, no-store', ...SAFETY_HEADERS]
/** The same for a response that the client may keep, if it asks each time whether it changed. */
export const CACHED_HEADERS: Headers = ['Cache-Control', 'private, no-cache', ...SAFETY_HEADERS]

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
    'Content-Type, Accept, Authorization, X-API-Key, Range, If-Range, If-None-Match, If-Modified-Since',
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

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const HTTP_TIME_PATTERN = '(?<time>\\d\\d:\\d\\d:\\d\\d)'
const HTTP_DATE_PATTERNS = [
  `[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${HTTP_TIME_PATTERN} GMT`,
  `[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>[A-Z][a-z]{2})-(?<year>\\d\\d) ${HTTP_TIME_PATTERN} GMT`,
  `[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \\d]\\d) ${HTTP_TIME_PATTERN} (?<year>\\d{4})`,
].map((shape) => new RegExp(`^${shape}$`))

export function formatHttpDate(instant: Instant): string {
  return new Date(instant * 1000).toUTCString()
}

/** Parses the three formats of the RFC. Returns null for any other text. Two-digit years are from 1970 to 2069. */
export function parseHttpDate(text: string): Instant | null {
  const groups = HTTP_DATE_PATTERNS.map((shape) => shape.exec(text)?.groups).find((each) => each !== undefined)
  if (groups === undefined) return null
  const month = MONTHS.indexOf(groups.month!) + 1
  const year = groups.year!.length === 4 ? groups.year! : `${Number(groups.year) < 70 ? 20 : 19}${groups.year}`
  const day = groups.day!.trim().padStart(2, '0')
  const instant = Date.parse(`${year}-${String(month).padStart(2, '0')}-${day}T${groups.time}Z`) / 1000
  return Number.isNaN(instant) ? null : instant
}
