/** Acquires the slot of a call among the calls of its account. */

import type { FastifyReply } from 'fastify'
import type { Caller } from '../../auth/authenticator.ts'
import type { ApiContext } from '../../context.ts'
import { overloadedError } from '../../errors.ts'
import type { AccessRecord } from '../access-log.ts'
import { rejectIfWaitedTooLong } from './overload.ts'

/** If more response bytes wait for clients, further calls are rejected. */
const MAX_UNSENT_BYTES = 256 * 2 ** 20

/**
 * Waits for a slot of the account. The slot is released when the response is closed, or when the returned function is
 * called. Throws if the server is overloaded, if the client has disconnected, or if the call has waited too long.
 */
export async function acquireSlot(
  context: ApiContext,
  { account }: Caller,
  accessRecord: AccessRecord,
  reply: FastifyReply,
): Promise<() => void> {
  const { callLimiter, responses } = context
  accessRecord.account = account.id
  if (responses.unsentBytes > MAX_UNSENT_BYTES) throw overloadedError('Too many responses wait for their clients.')
  const slot = callLimiter.acquire(account.id)
  const storeWait = slot === null ? null : await slot
  let isAcquired = true
  const release = (): void => {
    if (isAcquired) callLimiter.release(account.id)
    isAcquired = false
  }
  accessRecord.onClose.push(release)
  try {
    if (reply.raw.destroyed) throw overloadedError('The client has disconnected.')
    if (storeWait !== null) rejectIfWaitedTooLong(context, reply.request, storeWait)
    return release
  } catch (error) {
    release()
    throw error
  }
}
