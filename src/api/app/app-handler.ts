/** Handles a request of the web page: session, slot, handler, response. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ApiContext, toApiError } from '../context.ts'
import { acquireSlot } from '../http/limits/acquire-slot.ts'
import { type ApiResponse, errorResponse, sendResponse } from '../http/response.ts'
import type { RouteHandler } from '../http/routes.ts'
import type { SessionCaller } from './session-authenticator.ts'

/** Returns the response to a request of a session. Throws ApiError. */
export type AppHandler = (
  context: ApiContext,
  caller: SessionCaller,
  request: FastifyRequest,
) => ApiResponse | Promise<ApiResponse>

/** `csrf`: whether the request must have the header X-CSRF-Token, because it changes something. */
export function appRoute(context: ApiContext, handler: AppHandler, { csrf }: { csrf: boolean }): RouteHandler {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { responses, sessions } = context
    try {
      const caller = await sessions.authenticateSession(request, { csrf })
      await acquireSlot(context, caller, request)
      await sendResponse(responses, request, reply, await handler(context, caller, request))
    } catch (thrown) {
      await sendResponse(responses, request, reply, errorResponse(toApiError(context, request.id, thrown), 'top'))
    }
  }
}

export function jsonResponse(status: number, body: object): ApiResponse {
  return { status, body: [JSON.stringify(body)], headers: [] }
}
