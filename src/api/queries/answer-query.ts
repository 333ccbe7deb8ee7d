/** Answers a call of a caller: quota, plan and add-on, parameters and data, without anything of HTTP. */

import type { DomainName } from '../../values/domain-name.ts'
import type { Caller } from '../auth/authenticator.ts'
import type { QueryContext } from '../context/context.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { addObservedAt } from '../http/headers.ts'
import type { Parameters } from '../http/parameters.ts'
import { type ApiResponse, errorResponse, toApiError } from '../http/response.ts'
import { withTimeout } from '../http/timers.ts'
import { rateLimitHeaders } from '../quota/rate-limit.ts'
import type { Reservation } from '../quota/reservation.ts'

/** Milliseconds for which a response waits until its unit is released. */
const RELEASE_TIMEOUT_MS = 1_000

/**
 * Answers a call of an authenticated caller. It makes the checks in the order of the contract: quota, plan and add-on,
 * parameters, data. It charges the unit when the outcome is known. Only a success and `no_data` are charged. An error
 * is a response too, in the envelope of the endpoint. The endpoint must have `handle`. `id`: the request in the log.
 */
export async function answerQuery(
  context: QueryContext,
  endpoint: Endpoint,
  caller: Caller,
  parameters: Parameters,
  id: string,
): Promise<ApiResponse> {
  const { facts, inverse, similarSearch, fileStore, quotaLimiter, cursorKeyring, requestCrawl } = context
  let reservation: Reservation | null = null
  try {
    const reserved = quotaLimiter.reserve(caller)
    reservation = reserved instanceof Promise ? await reserved : reserved
    endpoint.authorize?.(caller, parameters)
    const onUnknownName = (name: DomainName): void => requestCrawl(caller.account.id, name)
    const { keys } = cursorKeyring
    const call = { facts, inverse, similarSearch, fileStore, parameters, caller, keys, onUnknownName }
    const result = await endpoint.handle!(call)
    const { body, type, headers: ownHeaders = [], isFree = false, lastObserved, release } = result
    if (isFree) await releaseReservation(reservation)
    else reservation.charge(endpoint.name)
    const headers = rateLimitHeaders(caller, reservation.remaining)
    if (lastObserved !== null) addObservedAt(headers, lastObserved)
    headers.push(...ownHeaders)
    return { status: 200, body, headers, release, type }
  } catch (thrown) {
    const error = toApiError(context, id, thrown)
    if (error.key === 'no_data') reservation?.charge(endpoint.name)
    else await releaseReservation(reservation)
    const remaining = error.key === 'rate_limited' ? 0 : reservation?.remaining
    const headers = remaining === undefined ? [] : rateLimitHeaders(caller, remaining)
    return errorResponse(error, endpoint.envelope, headers)
  }
}

/** Releases a unit before the response is sent. If the ledger is slow, the quota limiter completes the release. */
async function releaseReservation(reservation: Reservation | null): Promise<void> {
  if (reservation !== null) await withTimeout(reservation.release(), RELEASE_TIMEOUT_MS)
}
