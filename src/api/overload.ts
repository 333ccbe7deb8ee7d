/** Which requests are refused before anything is done for them: those of a client that asks too often, and those that have waited too long. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { refusalReply, send } from './answer.ts'
import { connectionOf } from './connection.ts'
import { type Envelope, overloaded, Refusal } from './errors.ts'
import type { Site } from './site.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Where the errors of a route stand; at the top level unless it says otherwise. */
    envelope?: Envelope
    /** Answered also in an overload: it costs little, and whoever asks wants to know about the overload. */
    isHealth?: boolean
  }
}

/** Milliseconds that a request may wait in an overload, from its arrival until its work begins. */
const PATIENCE = 1_000
/** Requests under way in a process up to which there is no overload, however slow the store or the machine is. */
const FEW = 100
/** Milliseconds that a request may wait then: as long as a call waits for a store that is away. */
const FEW_PATIENCE = 10_000

/** Throws the refusal of a request that has waited for too long; `slow`: milliseconds of that in which the store was waited for. */
export function expectFresh(site: Pick<Site, 'metrics' | 'ticks'>, { raw }: FastifyRequest, slow = 0): void {
  const connection = connectionOf(raw)
  const waited = connection === undefined ? 0 : site.ticks() - connection.arrivedAt
  const isOverload = (connection?.underWay ?? 0) > FEW && waited - slow > PATIENCE
  if (!isOverload && waited <= FEW_PATIENCE) return
  site.metrics.refuse('waited')
  throw overloaded('The server has more requests than it can answer: try again in a second.')
}

/** Whether a request may go on; one that may not is answered. */
export function admits(site: Site, request: FastifyRequest, reply: FastifyReply): boolean {
  const config = request.routeOptions?.config ?? {} // there is none for a path that cannot be decoded
  if (config.isHealth) return true
  try {
    site.clients.countRequest(request.ip)
    expectFresh(site, request)
    return true
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    void send(site.outlet, request, reply, refusalReply(thrown, config.envelope ?? 'top'))
    return false
  }
}
