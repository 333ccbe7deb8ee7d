/** Routes for what belongs to the account of the caller. They are free. */

import type { FastifyInstance } from 'fastify'
import type { Caller } from '../auth/authenticator.ts'
import { authenticateBearerOrSession } from '../auth/bearer.ts'
import type { ApiContext } from '../context/context.ts'
import type { ApiRequest } from '../http/exchange.ts'
import { acquireSlot } from '../http/limits/overload.ts'
import { readId } from '../http/parameters.ts'
import { type ApiResponse, respond } from '../http/response.ts'
import { addRoute } from '../http/routes.ts'

/** Handles a request of an account. */
export type AccountHandler = (context: ApiContext, caller: Caller, request: ApiRequest) => Promise<ApiResponse>

export function addAccountRoute(
  app: FastifyInstance,
  context: ApiContext,
  path: string,
  handlers: Readonly<Record<string, AccountHandler>>,
): void {
  addRoute(app, context, path, Object.keys(handlers), (request, reply) =>
    respond(context, request, reply, async () => {
      const caller = await authenticateBearerOrSession(context, request)
      await acquireSlot(context, caller, request)
      return handlers[request.method]!(context, caller, request)
    }),
  )
}

/** The ID in the path. Throws `not_found`. */
export function idIn(request: ApiRequest): number {
  return readId((request as ApiRequest & { params: { id?: string } }).params.id)
}
