/** The entry of a call that was admitted: its turn among those of its account. */

import type { FastifyReply } from 'fastify'
import type { Visit } from './access.ts'
import { overloaded } from './errors.ts'
import type { Caller } from './gate.ts'
import type { Site } from './site.ts'

/** Bytes of answers that wait for their clients, at most, before further calls are turned away. */
const UNSENT_BYTES = 256 * 2 ** 20

/**
 * Waits for the account's turn, which ends with the answer, or with a call of what is returned. Throws where too much is
 * under way already, or the client has gone meanwhile.
 */
export async function enterLane(
  { lanes, outlet }: Site,
  { account }: Caller,
  visit: Visit,
  { raw }: FastifyReply,
): Promise<() => void> {
  visit.account = account.id
  if (outlet.unsent > UNSENT_BYTES) throw overloaded('Too many answers wait for their clients.')
  const turn = lanes.enter(account.id)
  if (turn !== null) await turn
  let isIn = true
  const leave = (): void => {
    if (isIn) lanes.leave(account.id)
    isIn = false
  }
  visit.end.push(leave)
  if (!raw.destroyed) return leave
  leave()
  throw overloaded('The client is gone.')
}
