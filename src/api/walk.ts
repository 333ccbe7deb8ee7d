/** The walk of a request through an endpoint, from its parameters to its answer. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Visit } from './access.ts'
import { refusalReply, send } from './answer.ts'
import type { Endpoint } from './endpoint.ts'
import { overloaded } from './errors.ts'
import type { Caller } from './gate.ts'
import { addObserved, rateHeaders } from './headers.ts'
import type { Permit } from './meter.ts'
import { refusalOf, type Site } from './site.ts'
import { readParameters } from './wire.ts'

/** Bytes of answers that wait for their clients, at most, before further calls are turned away. */
const UNSENT_BYTES = 256 * 2 ** 20

/**
 * Size, token, quota, plan and add-on, parameters, data: the checks in the contract's order. The call's unit is spent when
 * the outcome is known and before the first byte goes out; only what is found, and `no_data`, costs one.
 */
export async function walk(
  site: Site,
  endpoint: Endpoint,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { facts, gate, meter, keyring, outlet } = site
  let caller: Caller | null = null
  let permit: Permit | null = null
  try {
    const parameters = readParameters(request)
    caller = await gate.admit(parameters.token)
    await enterLane(site, caller, request.visit, reply)
    permit = await (request.method === 'HEAD' ? meter.look(caller) : meter.enter(caller))
    endpoint.admit?.(caller, parameters)
    const { body, observed } = await endpoint.answer({ parameters, caller, facts, keys: keyring.keys })
    permit.charge(endpoint.name)
    const headers = rateHeaders(caller, permit.remaining)
    if (observed !== null) addObserved(headers, observed)
    await send(outlet, request, reply, { status: 200, body, headers })
  } catch (thrown) {
    const refusal = refusalOf(site, request.id, thrown)
    if (refusal.key === 'no_data') permit?.charge(endpoint.name)
    else await permit?.release()
    const isSpent = refusal.key === 'rate_limited'
    const remaining = isSpent ? 0 : permit?.remaining
    const headers = caller === null || remaining === undefined ? [] : rateHeaders(caller, remaining)
    await send(outlet, request, reply, refusalReply(refusal, endpoint.envelope, headers))
  }
}

/** Waits for the account's turn. Throws where too much is under way already, or the client has gone meanwhile. */
async function enterLane(
  { lanes, outlet }: Site,
  { account }: Caller,
  visit: Visit,
  { raw }: FastifyReply,
): Promise<void> {
  visit.account = account.id
  if (outlet.unsent > UNSENT_BYTES) throw overloaded('Too many answers wait for their clients.')
  const turn = lanes.enter(account.id)
  if (turn !== null) await turn
  visit.end.push(() => lanes.leave(account.id))
  if (!raw.destroyed) return
  lanes.leave(account.id)
  throw overloaded('The client is gone.')
}
