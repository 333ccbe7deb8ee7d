/** Routes for what belongs to the account of the caller. They are free. */

import type { FastifyInstance } from 'fastify'
import type { Caller } from '../auth/authenticator.ts'
import { authenticateBearerOrSession } from '../auth/bearer.ts'
import type { ApiContext } from '../context/context.ts'
import { ApiError } from '../http/errors.ts'
import type { ApiRequest } from '../http/exchange.ts'
import { acquireSlot } from '../http/limits/overload.ts'
import { type ApiResponse, respond } from '../http/response.ts'
import { addRoute } from '../http/routes.ts'

/** The largest number of a row that an engine stores. */
const MAX_ID = 2 ** 31 - 1

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
  const { id = '' } = (request as ApiRequest & { params: { id?: string } }).params
  const number = /^[1-9]\d{0,9}$/.test(id) ? Number(id) : 0
  if (number < 1 || number > MAX_ID) throw new ApiError('not_found')
  return number
}
