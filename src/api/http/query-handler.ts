/** The walk of a request through an endpoint, from its parameters to its answer. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DomainName } from '../../values/domain-name.ts'
import type { Caller } from '../auth/authenticator.ts'
import { type ApiContext, toApiError } from '../context.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { Parameters } from '../endpoints/parameters.ts'
import type { Reservation } from '../quota/reservation.ts'
import { withTimeout } from '../with-timeout.ts'
import { type FileRequest, handleFile } from './files/file-handler.ts'
import type { FileDownload } from './files/file-response.ts'
import { addObservedAt, rateLimitHeaders } from './headers.ts'
import { acquireSlot } from './limits/acquire-slot.ts'
import { readParameters } from './request.ts'
import { errorResponse, sendResponse } from './response.ts'

/** Milliseconds for which an answer waits for a unit to be back. */
const RELEASE_TIMEOUT_MS = 1_000

/**
 * Size, token, quota, plan and add-on, parameters, data: the checks in the contract's order. The call's unit is spent when
 * the outcome is known and before the first byte goes out; only what is found, and `no_data`, costs one. HEAD counts like
 * its GET: status and Content-Length are an answer.
 */
export async function handleQuery(
  context: ApiContext,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { facts, similarSearch, fileStore, authenticator, quotaLimiter, cursorKeyring: keyring, responses } = context
  let caller: Caller | null = null
  let reservation: Reservation | null = null
  try {
    const parameters = readParameters(request)
    if (endpoint.download?.isRequested(parameters))
      return await handleFile(context, fileRequest(context, endpoint, parameters), request, reply)
    caller = await authenticator.authenticate(parameters.token, request.ip)
    const onUnknownName = unknownNameHandler(context, caller)
    await acquireSlot(context, caller, request.accessRecord, reply)
    reservation = await quotaLimiter.reserve(caller)
    endpoint.authorize?.(caller, parameters)
    const call = {
      parameters,
      caller,
      facts,
      similarSearch: similarSearch,
      fileStore: fileStore,
      keys: keyring.keys,
      onUnknownName: onUnknownName,
    }
    const { body, lastObserved: observed } = await endpoint.handle!(call)
    reservation.charge(endpoint.name)
    const headers = rateLimitHeaders(caller, reservation.remaining)
    if (observed !== null) addObservedAt(headers, observed)
    await sendResponse(responses, request, reply, { status: 200, body, headers })
  } catch (thrown) {
    const apiError = toApiError(context, request.id, thrown)
    if (apiError.key === 'no_data') reservation?.charge(endpoint.name)
    else await releaseReservation(reservation)
    const isSpent = apiError.key === 'rate_limited'
    const remaining = isSpent ? 0 : reservation?.remaining
    const headers = caller === null || remaining === undefined ? [] : rateLimitHeaders(caller, remaining)
    await sendResponse(responses, request, reply, errorResponse(apiError, endpoint.envelope, headers))
  }
}

/** A unit is back before the answer goes out, unless the ledger takes its time: then the meter sees to it. */
async function releaseReservation(reservation: Reservation | null): Promise<void> {
  if (reservation !== null) await withTimeout(reservation.release(), RELEASE_TIMEOUT_MS)
}

function unknownNameHandler({ requestCrawl: wishing }: ApiContext, { account }: Caller): (name: DomainName) => void {
  return (name) => wishing(account.id, name)
}

function fileRequest(
  { fileStore }: ApiContext,
  { name, authorize: admit, download }: Endpoint,
  parameters: Parameters,
): FileRequest {
  const find = async (caller: Caller): Promise<FileDownload> => {
    admit?.(caller, parameters)
    return download!.find(caller, fileStore, parameters)
  }
  return { endpoint: name, token: () => parameters.token, find }
}
