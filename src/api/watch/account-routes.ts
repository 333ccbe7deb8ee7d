/** Routes for what belongs to the account of the caller. They are free. */

import type { FastifyInstance } from 'fastify'
import type { Caller } from '../auth/authenticator.ts'
import { authenticateBearerOrSession } from '../auth/bearer.ts'
import type { ApiContext } from '../context/context.ts'
import { readId } from '../endpoints/watch/operations.ts'
import { rejectValue } from '../endpoints/watch/watches.ts'
import type { ApiRequest } from '../http/exchange.ts'
import { acquireSlot } from '../http/limits/overload.ts'
import type { Parameters } from '../http/parameters.ts'
import { readJsonObject } from '../http/request.ts'
import { type ApiResponse, respond } from '../http/response.ts'
import { addRoute } from '../http/routes.ts'

export const NO_CONTENT: ApiResponse = { status: 204, body: [], headers: [] }

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

export function jsonResponse(status: number, body: object): ApiResponse {
  return { status, body: [JSON.stringify(body)], headers: [] }
}

/** Throws `value_invalid` if the body is not a JSON object. */
export function readBody(request: ApiRequest): Parameters {
  return readJsonObject(request) ?? rejectValue('body', 'The body must be a JSON object.')
}

/** The ID in the path. Throws `not_found`. */
export function idIn(request: ApiRequest): number {
  return readId((request as ApiRequest & { params: { id?: string } }).params.id)
}
