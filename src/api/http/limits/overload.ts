/** Rejects requests before any work: those of a client above its limit, and those that have waited too long. */

import type { ApiContext } from '../../context.ts'
import { ApiError, type Envelope, overloadedError } from '../../errors.ts'
import { connectionOf } from '../connection.ts'
import type { ApiReply, ApiRequest } from '../exchange.ts'
import { errorResponse, sendResponse } from '../response.ts'
import { MAX_WAIT_MS } from './concurrency-limiter.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The envelope of the errors of a route; `top` by default. */
    envelope?: Envelope
    /** Whether the route is answered even in an overload, because it is cheap and reports the state of the server. */
    isHealth?: boolean
    /** Whether pages of other origins may not read the responses, because a cookie authenticates the requests. */
    isSameOrigin?: boolean
    /** The maximum size of the body in bytes; 64 KiB by default. */
    maxBodyBytes?: number
  }
}

/** Milliseconds that a request may wait in an overload, from its arrival until its work starts. */
const MAX_OVERLOAD_WAIT_MS = 1_000
/** There is no overload with this many pending requests or fewer, even if the store or the machine is slow. */
const OVERLOAD_THRESHOLD = 100

/** Throws an ApiError if the request has waited too long. `storeWait`: milliseconds of store wait in that time. */
export function rejectIfWaitedTooLong(
  context: Pick<ApiContext, 'metrics' | 'monotonicMs'>,
  { raw }: ApiRequest,
  storeWait = 0,
): void {
  const load = connectionOf(raw.socket)?.load
  if (load === undefined) return
  const waited = context.monotonicMs() - load.arrivedAt
  const isOverload = load.pending > OVERLOAD_THRESHOLD && waited - storeWait > MAX_OVERLOAD_WAIT_MS
  if (!isOverload && waited <= MAX_WAIT_MS) return
  context.metrics.countRejection('wait_timeout')
  throw overloadedError('The server has more requests than it can answer: try again in a second.')
}

/** Returns whether a request is admitted. Answers a request that is not. */
export function admitRequest(context: ApiContext, request: ApiRequest, reply: ApiReply): boolean {
  const config = request.routeOptions?.config ?? {} // a path that cannot be decoded has none
  if (config.isHealth) return true
  try {
    context.clientLimits.countRequest(request.ip)
    rejectIfWaitedTooLong(context, request)
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    void sendResponse(context.responses, request, reply, errorResponse(error, config.envelope ?? 'top'))
    return false
  }
}
