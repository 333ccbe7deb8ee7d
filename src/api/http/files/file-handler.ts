/** The walk of a request for a file, from its token to its last byte. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../auth/authenticator.ts'
import { type ApiContext, toApiError } from '../../context.ts'
import { ApiError, overloadedError } from '../../errors.ts'
import { type Headers, rateLimitHeaders } from '../headers.ts'
import { acquireSlot } from '../limits/acquire-slot.ts'
import { errorResponse, sendResponse } from '../response.ts'
import { type FileDownload, type FileResponse, prepareFileResponse, sendFileResponse } from './file-response.ts'

/** What is asked for: `endpoint` is whose call it is, `token` reads the token, `find` checks plan, add-on, parameters and data; both throw the Refusal. */
export type FileRequest = { endpoint: string; token: () => unknown; find: (caller: Caller) => Promise<FileDownload> }

/**
 * The file is looked for before a unit is taken, because one that was paid for today costs nothing more; that the budget is
 * spent is said all the same before whatever else is wrong. It is paid for before its first byte goes out.
 */
export async function handleFile(
  context: ApiContext,
  { endpoint, token, find }: FileRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  let caller: Caller | null = null
  let remaining: number | null = null
  let found: FileDownload | ApiError | null = null
  try {
    caller = await context.authenticator.authenticate(token(), request.ip)
    const leave = await acquireSlot(context, caller, request.accessRecord, reply)
    found = await findOrApiError(find, caller)
    const part = found instanceof ApiError ? null : prepareFileResponse(request, found)
    if (part?.range) acquireDownloadSlot(context, caller, request, reply)
    remaining = await chargeOutcome(context, caller, endpoint, request.method, found, part)
    if (found instanceof ApiError || part === null) throw found
    leave()
    await sendFileResponse(context.responses, request, reply, found, withRateLimitHeaders(part, caller, remaining))
  } catch (thrown) {
    const apiError = toApiError(context, request.id, thrown)
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

/** A refusal is the outcome; anything else that is thrown is a fault. */
async function findOrApiError(find: FileRequest['find'], caller: Caller): Promise<FileDownload | ApiError> {
  try {
    return await find(caller)
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown
    throw thrown
  }
}

/** Takes what the outcome costs; returns the units that are left. Throws `rate_limited`. */
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

/** Downloads do not take the place of calls: they have lanes of their own. Throws where there are too many, or the client is gone. */
function acquireDownloadSlot(
  { downloadLimiter: downloads }: ApiContext,
  { account }: Caller,
  { accessRecord: visit }: FastifyRequest,
  { raw }: FastifyReply,
): void {
  if (raw.destroyed) throw overloadedError('The client is gone.') // its visit has ended, and would not end this
  void downloads.acquire(account.id)
  visit.onClose.push(() => downloads.release(account.id))
}

function withRateLimitHeaders(part: FileResponse, caller: Caller, remaining: number): FileResponse {
  return { ...part, headers: [...part.headers, ...rateLimitHeaders(caller, remaining)] }
}

/** Outside /v1.0/ the token comes as a header, and who sends none is told so. */
function bearerChallenge({ accessRecord: visit }: FastifyRequest, { status }: ApiError): Headers {
  return status === 401 && !visit.path?.startsWith('/v1.0/') ? ['WWW-Authenticate', 'Bearer'] : []
}
