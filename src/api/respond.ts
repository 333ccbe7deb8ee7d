/** Sends the response of a handler outside /v1.0/, or that of the error that it throws. */

import { type ApiContext, toApiError } from './context.ts'
import type { ApiReply, ApiRequest } from './http/exchange.ts'
import { type ApiResponse, bearerChallenge, errorResponse, sendResponse } from './http/response.ts'

export async function respond(
  context: Pick<ApiContext, 'responses' | 'log'>,
  request: ApiRequest,
  reply: ApiReply,
  answer: () => ApiResponse | Promise<ApiResponse>,
): Promise<void> {
  const { responses } = context
  try {
    await sendResponse(responses, request, reply, await answer())
  } catch (thrown) {
    const error = toApiError(context, request.id, thrown)
    await sendResponse(responses, request, reply, errorResponse(error, 'top', bearerChallenge(request, error)))
  }
}
