/** Which requests are refused before anything is done for them: those of a client that asks too often, and those that have waited too long. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiContext } from '../../context.ts'
import { ApiError, type Envelope, overloadedError } from '../../errors.ts'
import { connectionOf } from '../connection.ts'
import { errorResponse, sendResponse } from '../response.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Where the errors of a route stand; at the top level unless it says otherwise. */
    envelope?: Envelope
    /** Answered also in an overload: it costs little, and whoever asks wants to know about the overload. */
    isHealth?: boolean
  }
}

/** Milliseconds that a request may wait in an overload, from its arrival until its work begins. */
const MAX_WAIT_MS = 1_000
/** Requests under way in a process up to which there is no overload, however slow the store or the machine is. */
const OVERLOAD_THRESHOLD = 100
/** Milliseconds that a request may wait then: as long as a call waits for a store that is away. */
const MAX_WAIT_BELOW_THRESHOLD_MS = 10_000

/** Throws the refusal of a request that has waited for too long; `slow`: milliseconds of that in which the store was waited for. */
export function rejectIfWaitedTooLong(
  context: Pick<ApiContext, 'metrics' | 'monotonicMs'>,
  { raw }: FastifyRequest,
  storeWait = 0,
): void {
  const connection = connectionOf(raw)
  const waited = connection === undefined ? 0 : context.monotonicMs() - connection.arrivedAt
  const isOverload = (connection?.totalPending ?? 0) > OVERLOAD_THRESHOLD && waited - storeWait > MAX_WAIT_MS
  if (!isOverload && waited <= MAX_WAIT_BELOW_THRESHOLD_MS) return
  context.metrics.countRejection('wait_timeout')
  throw overloadedError('The server has more requests than it can answer: try again in a second.')
}

/** Whether a request may go on; one that may not is answered. */
export function admitRequest(context: ApiContext, request: FastifyRequest, reply: FastifyReply): boolean {
  const config = request.routeOptions?.config ?? {} // there is none for a path that cannot be decoded
  if (config.isHealth) return true
  try {
    context.clientLimits.countRequest(request.ip)
    rejectIfWaitedTooLong(context, request)
    return true
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    void sendResponse(context.responses, request, reply, errorResponse(thrown, config.envelope ?? 'top'))
    return false
  }
}
