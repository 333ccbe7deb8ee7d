/** The entry of a call that was admitted: its turn among those of its account. */

import type { FastifyReply } from 'fastify'
import type { Caller } from '../../auth/authenticator.ts'
import type { ApiContext } from '../../context.ts'
import { overloadedError } from '../../errors.ts'
import type { AccessRecord } from '../access-log.ts'
import { rejectIfWaitedTooLong } from './overload.ts'

/** Bytes of answers that wait for their clients, at most, before further calls are turned away. */
const MAX_UNSENT_BYTES = 256 * 2 ** 20

/**
 * Waits for the account's turn, which ends with the answer, or with a call of what is returned. Throws where too much is
 * under way already, if the client has gone meanwhile, or if the call has waited too long.
 */
export async function acquireSlot(
  context: ApiContext,
  { account }: Caller,
  accessRecord: AccessRecord,
  reply: FastifyReply,
): Promise<() => void> {
  const { callLimiter, responses } = context
  accessRecord.account = account.id
  if (responses.unsentBytes > MAX_UNSENT_BYTES) throw overloadedError('Too many answers wait for their clients.')
  const turn = callLimiter.acquire(account.id)
  const stalled = turn === null ? null : await turn
  let isIn = true
  const leave = (): void => {
    if (isIn) callLimiter.release(account.id)
    isIn = false
  }
  accessRecord.onClose.push(leave)
  try {
    if (reply.raw.destroyed) throw overloadedError('The client is gone.')
    if (stalled !== null) rejectIfWaitedTooLong(context, reply.request, stalled)
    return leave
  } catch (refusal) {
    leave()
    throw refusal
  }
}
