/** Handles a request to an endpoint, from its parameters to its response. */

import type { Caller } from '../auth/authenticator.ts'
import type { ApiContext } from '../context/context.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { ApiReply, ApiRequest } from '../http/exchange.ts'
import type { FileDownload } from '../http/files/file-response.ts'
import { acquireSlot } from '../http/limits/overload.ts'
import type { Parameters } from '../http/parameters.ts'
import { requestedFormat } from '../http/request.ts'
import { bearerChallenge, errorResponse, sendResponse, toApiError } from '../http/response.ts'
import { answerQuery } from './answer-query.ts'
import { type FileRequest, handleFile } from './file-handler.ts'
import { formatResponse } from './formatted-response.ts'

/** How the requests of a path are read: their parameters, and their caller. Both functions throw ApiError. */
export type QuerySource = {
  read: (request: ApiRequest) => Parameters
  authenticate: (request: ApiRequest, parameters: Parameters) => Caller | Promise<Caller>
}

/**
 * Handles a request. It checks size and token, and waits for a slot of the account; `answerQuery` does the rest. The
 * unit is charged before the first byte is sent. HEAD is charged like GET, because status and Content-Length carry
 * information.
 */
export async function handleQuery(
  context: ApiContext,
  endpoint: Endpoint,
  source: QuerySource,
  request: ApiRequest,
  reply: ApiReply,
): Promise<void> {
  const { responses } = context
  try {
    const parameters = source.read(request)
    if (endpoint.download?.isRequested(parameters))
      return await handleFile(context, fileRequest(context, endpoint, source, parameters), request, reply)
    const authenticated = source.authenticate(request, parameters)
    const caller = authenticated instanceof Promise ? await authenticated : authenticated
    const waiting = acquireSlot(context, caller, request)
    if (waiting instanceof Promise) await waiting
    const response = await answerQuery(context, endpoint, caller, parameters, request.id)
    const format = requestedFormat(request.headers.accept)
    const formatted = format === null ? response : await formatResponse(endpoint, format, response)
    await sendResponse(responses, request, reply, formatted)
  } catch (thrown) {
    const error = toApiError(context, request.id, thrown)
    await sendResponse(
      responses,
      request,
      reply,
      errorResponse(error, endpoint.envelope, bearerChallenge(request, error)),
    )
  }
}

function fileRequest(
  { fileStore }: ApiContext,
  { name, authorize, download }: Endpoint,
  { authenticate }: QuerySource,
  parameters: Parameters,
): FileRequest {
  const find = async (caller: Caller): Promise<FileDownload> => {
    authorize?.(caller, parameters)
    return download!.find(caller, fileStore, parameters)
  }
  return { endpoint: name, authenticate: (request) => authenticate(request, parameters), find }
}
