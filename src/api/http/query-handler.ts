/** Handles a request to an endpoint, from its parameters to its response. */

import type { DomainName } from '../../values/domain-name.ts'
import type { Caller } from '../auth/authenticator.ts'
import { type ApiContext, toApiError } from '../context.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { Parameters } from '../endpoints/parameters.ts'
import type { Reservation } from '../quota/reservation.ts'
import { withTimeout } from '../with-timeout.ts'
import type { ApiReply, ApiRequest } from './exchange.ts'
import { type FileRequest, handleFile } from './files/file-handler.ts'
import type { FileDownload } from './files/file-response.ts'
import { addObservedAt, rateLimitHeaders } from './headers.ts'
import { acquireSlot } from './limits/acquire-slot.ts'
import { bearerChallenge, errorResponse, sendResponse } from './response.ts'

/** Milliseconds for which a response waits until its unit is released. */
const RELEASE_TIMEOUT_MS = 1_000

/** How the requests of a path are read: their parameters, and their caller. Both functions throw ApiError. */
export type QuerySource = {
  read: (request: ApiRequest) => Parameters
  authenticate: (request: ApiRequest, parameters: Parameters) => Caller | Promise<Caller>
}

/**
 * Handles a request. It makes the checks in the order of the contract: size, token, quota, plan and add-on, parameters,
 * data. It charges the unit when the outcome is known, before the first byte is sent. Only a success and `no_data` are
 * charged. HEAD is charged like GET, because status and Content-Length carry information.
 */
export async function handleQuery(
  context: ApiContext,
  endpoint: Endpoint,
  source: QuerySource,
  request: ApiRequest,
  reply: ApiReply,
): Promise<void> {
  const { facts, similarSearch, fileStore, quotaLimiter, cursorKeyring, responses } = context
  let caller: Caller | null = null
  let reservation: Reservation | null = null
  try {
    const parameters = source.read(request)
    if (endpoint.download?.isRequested(parameters))
      return await handleFile(context, fileRequest(context, endpoint, source, parameters), request, reply)
    const authenticated = source.authenticate(request, parameters)
    caller = authenticated instanceof Promise ? await authenticated : authenticated
    const onUnknownName = unknownNameHandler(context, caller)
    const waiting = acquireSlot(context, caller, request)
    if (waiting instanceof Promise) await waiting
    const reserved = quotaLimiter.reserve(caller)
    reservation = reserved instanceof Promise ? await reserved : reserved
    endpoint.authorize?.(caller, parameters)
    const call = { parameters, caller, facts, similarSearch, fileStore, keys: cursorKeyring.keys, onUnknownName }
    const { body, lastObserved, release } = await endpoint.handle!(call)
    reservation.charge(endpoint.name)
    const headers = rateLimitHeaders(caller, reservation.remaining)
    if (lastObserved !== null) addObservedAt(headers, lastObserved)
    await sendResponse(responses, request, reply, { status: 200, body, headers, release })
  } catch (error) {
    const apiError = toApiError(context, request.id, error)
    if (apiError.key === 'no_data') reservation?.charge(endpoint.name)
    else await releaseReservation(reservation)
    const isSpent = apiError.key === 'rate_limited'
    const remaining = isSpent ? 0 : reservation?.remaining
    const headers = caller === null || remaining === undefined ? [] : rateLimitHeaders(caller, remaining)
    headers.push(...bearerChallenge(request, apiError))
    await sendResponse(responses, request, reply, errorResponse(apiError, endpoint.envelope, headers))
  }
}

/** Releases a unit before the response is sent. If the ledger is slow, the quota limiter completes the release. */
async function releaseReservation(reservation: Reservation | null): Promise<void> {
  if (reservation !== null) await withTimeout(reservation.release(), RELEASE_TIMEOUT_MS)
}

function unknownNameHandler({ requestCrawl }: ApiContext, { account }: Caller): (name: DomainName) => void {
  return (name) => requestCrawl(account.id, name)
}

function fileRequest(
  { fileStore }: ApiContext,
  { name, authorize, download }: Endpoint,
  { authenticate }: QuerySource,
  parameters: Parameters,
): FileRequest {
  const find = async (caller: Caller): Promise<FileDownload> => {
    authorize?.(caller, parameters)
    return download!.find(caller, fileStore, parameters)
  }
  return { endpoint: name, authenticate: (request) => authenticate(request, parameters), find }
}
