/** The entry of a call that was admitted: its turn among those of its account. */

import type { FastifyReply } from 'fastify'
import type { Visit } from './access.ts'
import { overloaded } from './errors.ts'
import type { Caller } from './gate.ts'
import { expectFresh } from './overload.ts'
import type { Site } from './site.ts'

/** Bytes of answers that wait for their clients, at most, before further calls are turned away. */
const UNSENT_BYTES = 256 * 2 ** 20

/**
 * Waits for the account's turn, which ends with the answer, or with a call of what is returned. Throws where too much is
 * under way already, if the client has gone meanwhile, or if the call has waited too long.
 */
export async function enterLane(
  site: Site,
  { account }: Caller,
  visit: Visit,
  reply: FastifyReply,
): Promise<() => void> {
  const { lanes, outlet } = site
  visit.account = account.id
  if (outlet.unsent > UNSENT_BYTES) throw overloaded('Too many answers wait for their clients.')
  const turn = lanes.enter(account.id)
  const stalled = turn === null ? null : await turn
  let isIn = true
  const leave = (): void => {
    if (isIn) lanes.leave(account.id)
    isIn = false
  }
  visit.end.push(leave)
  try {
    if (reply.raw.destroyed) throw overloaded('The client is gone.')
    if (stalled !== null) expectFresh(site, reply.request, stalled)
    return leave
  } catch (refusal) {
    leave()
    throw refusal
  }
}
