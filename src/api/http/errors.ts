/** All API errors: the table of keys, statuses and messages, and the class that is thrown. */

/** The table of the specification in its order, then our own key. Keys never change, messages may. */
export const ERRORS = {
  query_missing: [400, 'There is no query: send the domain as "query".'],
  domain_format: [400, 'The query is not a domain name.'],
  date_missing: [400, 'There is no date: send the day as "date", for example 2026-11-20.'],
  certificate_format: [400, 'The fingerprint must be the SHA-256 of a certificate in 64 hex digits.'],
  search_invalid: [400, 'There is no search: send the text as "q", such as bank or *.bank.'],
  brand_invalid: [400, 'There is no brand: send its domain as "of", such as example.com.'],
  date_format: [400, 'The date must be a valid day in the form YYYY-MM-DD.'],
  type_invalid: [400, 'The type must be one of A, AAAA, MX, TXT, NS, SOA, CNAME.'],
  followup_invalid: [400, 'The followup must be 7 or 30.'],
  cursor_invalid: [400, 'The cursor in "next" cannot be read: send meta.next back unchanged.'],
  cursor_expired: [400, 'The cursor in "next" is older than 24 hours: start again from the first page.'],
  cursor_mismatch: [400, 'The cursor in "next" belongs to another query: repeat the query that it was issued for.'],
  cursor_needs_type: [400, 'A first_seen value in "next" needs the record type in "type".'],
  token_missing: [
    401,
    'There is no token: send it as "token". The operator creates one with "domaindex account token create EMAIL".',
  ],
  token_invalid: [
    401,
    'The token is unknown, revoked or expired. The operator creates a new one with ' +
      '"domaindex account token create EMAIL".',
  ],
  plan_required: [403, 'This endpoint needs the plan Basic or Premium: ask the operator to change your plan.'],
  premium_required: [403, 'This request needs the plan Premium.'],
  addon_required: [403, 'This request needs an add-on: ask the operator to add it.'],
  no_subscription: [403, 'The account has no subscription period: ask the operator to add one.'],
  before_subscription: [403, 'The date is before the first subscription period.'],
  after_subscription: [403, 'The date is after the last subscription period.'],
  outside_subscription: [403, 'The date is in a gap between two subscription periods.'],
  no_data: [404, 'Nothing is on record for this.'],
  endpoint_unknown: [404, 'There is no such endpoint: check the path and the method.'],
  rate_limited: [429, 'The daily limit is reached.'],
  internal_error: [500, 'The server failed to answer this request: try again.'],
  body_too_large: [413, 'The body of a request may have at most 64 KiB.'],
} as const satisfies Record<string, readonly [status: number, message: string]>

/** The further errors of batches, of passive DNS, of the web page's paths and of the operator's, all outside `/v1.0/`. */
export const PAGE_ERRORS = {
  batch_invalid: [400, 'A batch has 1 to 1,000 lines: send further ones in another batch.'],
  line_invalid: [400, 'The line is not a JSON object such as {"endpoint":"lookup","query":"example.com"}.'],
  value_invalid: [400, 'A value is missing or has a wrong format.'],
  link_invalid: [400, 'The link is unknown, used or expired: request a new one.'],
  session_missing: [401, 'There is no session, or it has ended: sign in.'],
  sign_in_failed: [401, 'The email address or the password is wrong.'],
  origin_refused: [403, 'The request comes from another page, or its X-CSRF-Token is wrong: reload the page.'],
  operator_required: [403, 'This needs an account of an operator.'],
  not_found: [404, 'There is nothing with this ID.'],
  conflict: [409, 'The current state does not allow this change.'],
  offset_too_large: [416, 'The offset is larger than the plan allows, or the request takes none.'],
  too_many_attempts: [429, 'There were too many attempts: wait, then try again.'],
  index_incomplete: [503, 'The index of records is being built: try again later.'],
  mail_unavailable: [503, 'This service cannot send email at the moment: try again later.'],
} as const satisfies Record<string, readonly [status: number, message: string]>

export const ALL_ERRORS = { ...ERRORS, ...PAGE_ERRORS }

export type ErrorKey = keyof typeof ALL_ERRORS

/** The errors of a session, for the paths that the web page calls too. */
export const SESSION_ERRORS = ['session_missing', 'origin_refused'] as const satisfies readonly ErrorKey[]

/** The place of the error object: inside `result`, or as the whole body. */
export type Envelope = 'result' | 'top'

/** Additional keys next to `rcode`. */
type ErrorExtra = Record<string, number | string>
type ApiErrorDetails = { msg?: string | undefined; extra?: ErrorExtra; retryAfter?: number }

/** An error in the request, or an overload. Any other thrown value is an internal error. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly key: ErrorKey
  readonly status: number
  readonly extra: ErrorExtra
  /** Seconds for the header Retry-After; null: no header. */
  readonly retryAfter: number | null

  constructor(key: ErrorKey, { msg, extra, retryAfter }: ApiErrorDetails = {}) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0 // the stack is not needed, and an overload throws thousands of errors per second
    super(msg ?? ALL_ERRORS[key][1])
    Error.stackTraceLimit = stackTraceLimit
    this.key = key
    this.status = ALL_ERRORS[key][0]
    this.extra = extra ?? {}
    this.retryAfter = retryAfter ?? null
  }

  /** The body of the response, JSON. */
  body(envelope: Envelope): string {
    const error = JSON.stringify({ rcode: this.status, error: this.key, msg: this.message, ...this.extra })
    return envelope === 'result' ? `{"result":${error}}` : error
  }
}

/** The endpoints with the envelope `result`. */
const NESTED_ERROR_PATH = /^\/+v1\.0\/+(lookup|redirect|reverseip)\/*(\?|$)/

/** The envelope of a path, for code without access to the endpoint. */
export function envelopeOfPath(path: string): Envelope {
  return NESTED_ERROR_PATH.test(path) ? 'result' : 'top'
}

/** The error of an overload: the request is valid, and the client may retry after a second. */
export function overloadedError(msg: string): ApiError {
  return new ApiError('internal_error', { msg, retryAfter: 1 })
}
