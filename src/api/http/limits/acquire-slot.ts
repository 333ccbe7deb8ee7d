/** Acquires the slot of a call among the calls of its account. */

import type { Account } from '../../../accounts/account.ts'
import type { ApiContext } from '../../context.ts'
import { overloadedError } from '../../errors.ts'
import type { ApiRequest } from '../exchange.ts'
import type { ResponseContext } from '../response.ts'
import { rejectIfWaitedTooLong } from './overload.ts'

/** If more response bytes wait for clients, further calls are rejected. */
const MAX_UNSENT_BYTES = 256 * 2 ** 20

/**
 * Acquires a slot of the account, and returns the function that releases it: a promise if the call must wait. The slot
 * is also released when the response is closed. Throws if the server is overloaded, if the client has disconnected, or
 * if the call has waited too long, also if no slot has become free.
 */
export function acquireSlot(
  context: ApiContext,
  { account }: { account: Pick<Account, 'id'> },
  request: ApiRequest,
): (() => void) | Promise<() => void> {
  const { callLimiter, responses } = context
  request.accessRecord.account = account.id
  rejectIfOverloaded(responses)
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
function holdSlot(context: ApiContext, account: number, request: ApiRequest, storeWait: number | null): () => void {
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
