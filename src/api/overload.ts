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

/** Milliseconds that a request may wait, from its arrival until its work begins. */
const PATIENCE = 1_000

/** Throws the refusal of a request that has waited for so many milliseconds. */
export function expectFresh({ metrics }: Pick<Site, 'metrics'>, waited: number): void {
  if (waited <= PATIENCE) return
  metrics.refuse('waited')
  throw overloaded('The server has more requests than it can answer: try again in a second.')
}

/** Whether a request may go on; one that may not is answered. */
export function admits(site: Site, request: FastifyRequest, reply: FastifyReply): boolean {
  const config = request.routeOptions?.config ?? {} // there is none for a path that cannot be decoded
  if (config.isHealth) return true
  try {
    site.clients.countRequest(request.ip)
    expectFresh(site, waitOf(site, request))
    return true
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    void send(site.outlet, request, reply, refusalReply(thrown, config.envelope ?? 'top'))
    return false
  }
}

/** Milliseconds since the bytes of a request arrived. */
export function waitOf({ ticks }: Pick<Site, 'ticks'>, { raw }: FastifyRequest): number {
  const connection = connectionOf(raw)
  return connection === undefined ? 0 : ticks() - connection.arrivedAt
}
