/**
 * Lets a request begin its work: rejects those of a client above its limit and those that have waited too long, and
 * acquires a slot among the calls of the account.
 */

import type { Logger } from 'pino'
import type { Account } from '../../../accounts/account.ts'
import { connectionOf } from '../connection.ts'
import { ApiError, type Envelope, overloadedError } from '../errors.ts'
import type { ApiReply, ApiRequest } from '../exchange.ts'
import type { ApiMetrics } from '../metrics.ts'
import { errorResponse, type ResponseContext, sendResponse } from '../response.ts'
import type { ClientLimits } from './client-limits.ts'
import { type AccountConcurrencyLimiter, MAX_WAIT_MS } from './concurrency-limiter.ts'

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

/** What all requests of a process share before any of them has a caller. */
export type HttpContext = {
  clientLimits: ClientLimits
  /** Limits calls until their response is closed. */
  callLimiter: AccountConcurrencyLimiter
  responses: ResponseContext
  metrics: Pick<ApiMetrics, 'countRejection'>
  /** Milliseconds of a monotonic clock. */
  monotonicMs: () => number
  log: Logger
}

/** Milliseconds that a request may wait in an overload, from its arrival until its work starts. */
const MAX_OVERLOAD_WAIT_MS = 1_000
/** There is no overload with this many pending requests or fewer, even if the store or the machine is slow. */
const OVERLOAD_THRESHOLD = 100

/** Throws an ApiError if the request has waited too long. `storeWait`: milliseconds of store wait in that time. */
export function rejectIfWaitedTooLong(
  context: Pick<HttpContext, 'metrics' | 'monotonicMs'>,
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
export function admitRequest(context: HttpContext, request: ApiRequest, reply: ApiReply): boolean {
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

/** If more response bytes wait for clients, further calls are rejected. */
const MAX_UNSENT_BYTES = 256 * 2 ** 20

/**
 * Acquires a slot of the account, and returns the function that releases it: a promise if the call must wait. The slot
 * is also released when the response is closed. Throws if the server is overloaded, if the client has disconnected, or
 * if the call has waited too long, also if no slot has become free.
 */
export function acquireSlot(
  context: HttpContext,
  { account }: { account: Pick<Account, 'id'> },
  request: ApiRequest,
): (() => void) | Promise<() => void> {
  const { callLimiter, responses } = context
  request.accessRecord.account = account.id
  rejectIfOverloaded(responses)
  if (callLimiter.isFull(account.id)) responses.batch.write() // each response that is written releases its slot
  const slot = callLimiter.acquire(account.id)
  if (slot === null) return holdSlot(context, account.id, request, null)
  return slot.then(
    (storeWait) => holdSlot(context, account.id, request, storeWait),
    (error) => {
      context.metrics.countRejection('account_calls')
      throw error
    },
  )
}

/** Throws if too many response bytes wait for clients. */
export function rejectIfOverloaded({ unsentBytes }: Pick<ResponseContext, 'unsentBytes'>): void {
  if (unsentBytes > MAX_UNSENT_BYTES) throw overloadedError('Too many responses wait for their clients.')
}

/** `storeWait`: milliseconds of store wait while the call waited for its slot; null if it did not wait. */
function holdSlot(context: HttpContext, account: number, request: ApiRequest, storeWait: number | null): () => void {
  let isAcquired = true
  const release = (): void => {
    if (isAcquired) context.callLimiter.release(account)
    isAcquired = false
  }
  request.accessRecord.onClose.push(release)
  try {
    if (request.raw.socket.destroyed) throw overloadedError('The client has disconnected.')
    if (storeWait !== null) rejectIfWaitedTooLong(context, request, storeWait)
    return release
  } catch (error) {
    release()
    throw error
  }
}
