/** The routes of the web page: session or origin, slot, handler, response. */

import type { FastifyRequest } from 'fastify'
import type { SessionCaller } from '../auth/session-authenticator.ts'
import type { ApiContext } from '../context/context.ts'
import { acquireSlot } from '../http/limits/overload.ts'
import { type ApiResponse, respond } from '../http/response.ts'
import type { RouteHandler } from '../http/routes.ts'

/** Returns the response to a request of a session. Throws ApiError. */
export type AppHandler = (
  context: ApiContext,
  caller: SessionCaller,
  request: FastifyRequest,
) => ApiResponse | Promise<ApiResponse>

/** Returns the response to a request without a session. Throws ApiError. */
export type OpenHandler = (context: ApiContext, request: FastifyRequest) => Promise<ApiResponse>

/** `csrf`: whether the request must have the header X-CSRF-Token, because it changes something. */
export function appRoute(context: ApiContext, handler: AppHandler, { csrf }: { csrf: boolean }): RouteHandler {
  return (request, reply) =>
    respond(context, request, reply, async () => {
      const caller = await context.sessions.authenticateSession(request, { csrf })
      await acquireSlot(context, caller, request)
      return handler(context, caller, request)
    })
}

/** A route that needs no session. `isChange`: whether the request must come from a page of this server. */
export function openRoute(
  context: ApiContext,
  handler: OpenHandler,
  { isChange }: { isChange: boolean },
): RouteHandler {
  return (request, reply) =>
    respond(context, request, reply, () => {
      if (isChange) context.origins.check(request)
      return handler(context, request)
    })
}
