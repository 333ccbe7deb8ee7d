/** Every error that an answer can carry: one table from key to status and words, and the one class that is thrown. */

/** The specification's table in its order, and behind it the one key of our own. Keys never change, words may. */
export const ERRORS = {
  query_missing: [400, 'There is no query: send the domain as "query".'],
  domain_format: [400, 'The query is not a domain name.'],
  date_missing: [400, 'There is no date: send the day as "date", for example 2026-11-20.'],
  date_format: [400, 'The date must be a day of the calendar written YYYY-MM-DD.'],
  type_invalid: [400, 'The type must be one of A, AAAA, MX, TXT, NS, SOA, CNAME.'],
  followup_invalid: [400, 'The followup must be 7 or 30.'],
  cursor_invalid: [400, 'The cursor in "next" cannot be read: pass meta.next back unaltered.'],
  cursor_expired: [400, 'The cursor in "next" is older than 24 hours: start again from the first page.'],
  cursor_mismatch: [400, 'The cursor in "next" belongs to another query: repeat the query it was given for.'],
  cursor_needs_type: [400, 'A first_seen value in "next" needs the record type in "type".'],
  token_missing: [
    401,
    'There is no token: send it as "token". The operator makes one with: domaindex account token create EMAIL.',
  ],
  token_invalid: [
    401,
    'The token is unknown or no longer active: make a new one with: domaindex account token create EMAIL.',
  ],
  plan_required: [403, 'This endpoint needs the Basic or Premium plan.'],
  premium_required: [403, 'This needs the Premium plan.'],
  addon_required: [403, 'This needs an add-on.'],
  no_subscription: [403, 'The account has no subscription period.'],
  before_subscription: [403, 'The date lies before the first subscription.'],
  after_subscription: [403, 'The date lies after the subscription.'],
  outside_subscription: [403, 'The date lies in a gap between two subscriptions.'],
  no_data: [404, 'Nothing is on record for this.'],
  endpoint_unknown: [404, 'There is no such endpoint.'],
  rate_limited: [429, 'The daily limit is reached.'],
  internal_error: [500, 'Something failed on our side: try again.'],
  body_too_large: [413, 'The body of a request may have at most 64 KiB.'],
} as const satisfies Record<string, readonly [status: number, words: string]>

export type ErrorKey = keyof typeof ERRORS

/** Where the error object stands: inside `result`, or as the whole body. */
export type Envelope = 'result' | 'top'

type ApiErrorDetails = { msg?: string | undefined; extra?: Record<string, number>; retryAfter?: number }

/** What a request cannot have. Anything else that is thrown is a fault of ours. */
export class ApiError extends Error {
  override name = 'Refusal'
  readonly key: ErrorKey
  readonly status: number
  /** Keys beside rcode. */
  readonly extra: Record<string, number>
  /** Seconds for the header Retry-After; null: none. */
  readonly retryAfter: number | null

  constructor(key: ErrorKey, { msg, extra, retryAfter }: ApiErrorDetails = {}) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0 // nobody reads where it was thrown, and an overload throws thousands a second
    super(msg ?? ERRORS[key][1])
    Error.stackTraceLimit = stackTraceLimit
    this.key = key
    this.status = ERRORS[key][0]
    this.extra = extra ?? {}
    this.retryAfter = retryAfter ?? null
  }

  /** The body of the answer, JSON. */
  body(envelope: Envelope): string {
    const error = JSON.stringify({ rcode: this.status, error: this.key, msg: this.message, ...this.extra })
    return envelope === 'result' ? `{"result":${error}}` : error
  }
}

/** The endpoints whose errors stand inside `result`. */
const NESTED_ERROR_PATH = /^\/+v1\.0\/+(lookup|redirect|reverseip)\/*(\?|$)/

/** Where the errors of a path stand, for who cannot ask the path's endpoint. */
export function envelopeOfPath(path: string): Envelope {
  return NESTED_ERROR_PATH.test(path) ? 'result' : 'top'
}

/** Overloaded: nothing is wrong with the request, and it may come again after a second. */
export function overloadedError(msg: string): ApiError {
  return new ApiError('internal_error', { msg, retryAfter: 1 })
}
