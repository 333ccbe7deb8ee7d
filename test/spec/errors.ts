/** The specification's table of errors, and a check that a response is exactly such an error. */

import assert from 'node:assert/strict'
import type { Seen } from './world.ts'

/** Key to status. The last one is the contract's. */
export const STATUS = {
  query_missing: 400,
  domain_format: 400,
  date_missing: 400,
  date_format: 400,
  type_invalid: 400,
  followup_invalid: 400,
  cursor_invalid: 400,
  cursor_expired: 400,
  cursor_mismatch: 400,
  cursor_needs_type: 400,
  token_missing: 401,
  token_invalid: 401,
  plan_required: 403,
  premium_required: 403,
  addon_required: 403,
  no_subscription: 403,
  before_subscription: 403,
  after_subscription: 403,
  outside_subscription: 403,
  no_data: 404,
  endpoint_unknown: 404,
  rate_limited: 429,
  internal_error: 500,
  body_too_large: 413,
} as const

export type ErrorKey = keyof typeof STATUS

/** Endpoints that nest their errors inside `result`. */
const NESTING = ['lookup', 'redirect', 'reverseip']

/**
 * Asserts that the response is exactly this error, in the format of its endpoint ('' for the top level). Returns its
 * `msg`, whose wording may change.
 */
export function assertRefused(seen: Seen, endpoint: string, key: ErrorKey, extra: Record<string, number> = {}): string {
  const isNested = NESTING.includes(endpoint)
  const { msg } = (isNested ? (seen.body as { result: { msg: string } }).result : seen.body) as { msg: string }
  const error = { rcode: STATUS[key], error: key, msg, ...extra }
  assert.deepEqual(seen.body, isNested ? { result: error } : error)
  assert.equal(seen.status, STATUS[key])
  assert.match(msg, /^[A-Z].*\.$/s)
  return msg
}
