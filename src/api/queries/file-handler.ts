/** Handles a request for a file, from its token to its last byte. */

import type { Caller } from '../auth/authenticator.ts'
import type { ApiContext } from '../context/context.ts'
import { ApiError, overloadedError } from '../http/errors.ts'
import type { ApiReply, ApiRequest } from '../http/exchange.ts'
import {
  type FileDownload,
  type FileResponse,
  prepareFileResponse,
  sendFileResponse,
} from '../http/files/file-response.ts'
import { acquireSlot } from '../http/limits/overload.ts'
import { bearerChallenge, errorResponse, sendResponse, toApiError } from '../http/response.ts'
import { rateLimitHeaders } from '../quota/rate-limit.ts'

/**
 * A request for a file. `endpoint`: under which the call is recorded. `find` checks plan, add-on,
 * parameters and data. Both functions throw ApiError.
 */
export type FileRequest = {
  endpoint: string
  authenticate: (request: ApiRequest) => Caller | Promise<Caller>
  find: (caller: Caller) => Promise<FileDownload>
}

/**
 * Handles the request. It looks for the file before it takes a unit, because a file that was charged today is free.
 * Even so, `rate_limited` takes precedence over other errors. The file is charged before its first byte is sent.
 */
export async function handleFile(
  context: ApiContext,
  { endpoint, authenticate, find }: FileRequest,
  request: ApiRequest,
  reply: ApiReply,
): Promise<void> {
  let caller: Caller | null = null
  let remaining: number | null = null
  let found: FileDownload | ApiError | null = null
  try {
    caller = await authenticate(request)
    const releaseSlot = await acquireSlot(context, caller, request)
    found = await findOrApiError(find, caller)
    const part = found instanceof ApiError ? null : prepareFileResponse(request, found)
    if (part?.range) acquireDownloadSlot(context, caller, request)
    remaining = await chargeOutcome(context, caller, endpoint, request.method, found, part)
    if (found instanceof ApiError || part === null) throw found
    releaseSlot()
    await sendFileResponse(context.responses, request, reply, found, withRateLimitHeaders(part, caller, remaining))
  } catch (error) {
    const apiError = toApiError(context, request.id, error)
    if (reply.raw.headersSent) return
    if (apiError.key === 'rate_limited') remaining = 0
    const headers = caller === null || remaining === null ? [] : rateLimitHeaders(caller, remaining)
    await sendResponse(
      context.responses,
      request,
      reply,
      errorResponse(apiError, 'top', [...headers, ...bearerChallenge(request, apiError)]),
    )
  } finally {
    if (found !== null && !(found instanceof ApiError)) await found.file.close()
  }
}

/** Returns an ApiError as an outcome. Any other error is a fault. */
async function findOrApiError(find: FileRequest['find'], caller: Caller): Promise<FileDownload | ApiError> {
  try {
    return await find(caller)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** Charges the outcome. Returns the remaining units. Throws `rate_limited`. */
async function chargeOutcome(
  { quotaLimiter }: ApiContext,
  caller: Caller,
  endpoint: string,
  method: string,
  found: FileDownload | ApiError,
  part: FileResponse | null,
): Promise<number> {
  if (!(found instanceof ApiError)) {
    const { name } = found.file.manifest
    if (part?.range) return quotaLimiter.chargeFile(caller, name, endpoint)
    return (await quotaLimiter.checkOnly(caller, name)).remaining
  }
  const isCounted = found.key === 'no_data' && method !== 'HEAD'
  const reservation = await (isCounted ? quotaLimiter.reserve(caller) : quotaLimiter.checkOnly(caller))
  reservation.charge(endpoint)
  return reservation.remaining
}

/**
 * Acquires a slot for a download. Downloads have a concurrency limiter of their own, so that they do not block calls.
 * Throws if there are too many, or if the client has disconnected.
 */
function acquireDownloadSlot(
  { downloadLimiter }: ApiContext,
  { account }: Caller,
  { accessRecord, raw }: ApiRequest,
): void {
  if (raw.socket.destroyed) throw overloadedError('The client has disconnected.') // its record is closed and would not release
  void downloadLimiter.acquire(account.id)
  accessRecord.onClose.push(() => downloadLimiter.release(account.id))
}

function withRateLimitHeaders(part: FileResponse, caller: Caller, remaining: number): FileResponse {
  return { ...part, headers: [...part.headers, ...rateLimitHeaders(caller, remaining)] }
}
