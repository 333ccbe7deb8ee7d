/** POST /mcp: the MCP server over streamable HTTP, without sessions, by bearer token. */

import type { OpenedFile } from '../../jobs/file-store/file-store.ts'
import { isObject } from '../../values/json-object.ts'
import type { Caller } from '../auth/authenticator.ts'
import { authenticateBearer } from '../auth/bearer.ts'
import type { ApiContext } from '../context/context.ts'
import { daily } from '../endpoints/daily.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { ENDPOINTS, PROFILE_ROUTES } from '../endpoints/endpoints.ts'
import { eventsEndpoint, rejectUnknownNumber } from '../endpoints/watch/events.ts'
import { WATCH_OPERATIONS, type WatchOperationName } from '../endpoints/watch/operations.ts'
import { preview } from '../endpoints/watch/preview.ts'
import { ApiError } from '../http/errors.ts'
import { type ApiReply, type ApiRequest, countCall } from '../http/exchange.ts'
import { acquireSlot } from '../http/limits/overload.ts'
import { isBodyTooLarge } from '../http/request.ts'
import { type ApiResponse, bearerChallenge, errorResponse, sendResponse, toApiError } from '../http/response.ts'
import { textOfBody } from '../http/write-parts.ts'
import { answerQuery } from '../queries/answer-query.ts'
import type { SourceResponse, ToolSource } from './tool.ts'

const QUERY_ENDPOINTS = new Map<string, Endpoint>(
  [...ENDPOINTS, ...PROFILE_ROUTES.map(({ endpoint }) => endpoint), preview].map((each) => [each.name, each]),
)

/**
 * Handles a message of the protocol. Each request has a server of its own, because nothing lasts between two. The
 * checks are those of other paths: size, origin, token, slot. A tool is charged as the call that it makes.
 */
export async function handleMcp(context: ApiContext, request: ApiRequest, reply: ApiReply): Promise<void> {
  try {
    if (isBodyTooLarge(request.body)) throw new ApiError('body_too_large')
    context.origins.check(request)
    const caller = await authenticateBearer(context, request)
    await acquireSlot(context, caller, request)
    await sendResponse(context.responses, request, reply, await answerMessage(context, caller, request))
  } catch (thrown) {
    const error = toApiError(context, request.id, thrown)
    const response = errorResponse(error, 'top', bearerChallenge(request, error))
    await sendResponse(context.responses, request, reply, response)
  }
}

/** The response to GET and DELETE: there is no stream and no session. */
export const MCP_METHOD_RESPONSE: ApiResponse = {
  status: 405,
  body: [rpcError(-32_000, 'Send messages by POST: this server has no sessions and no streams.')],
  headers: ['Allow', 'POST, OPTIONS'],
}

/** The library is loaded with the first message: loading it takes a third of the start of a worker. */
async function answerMessage(context: ApiContext, caller: Caller, request: ApiRequest): Promise<ApiResponse> {
  const message = parseMessage(String(request.body ?? ''))
  if (message === null) return { status: 400, body: [rpcError(-32_700, 'Send one JSON-RPC object.')], headers: [] }
  const [{ createMcpServer }, { WebStandardStreamableHTTPServerTransport: Transport }] = await Promise.all([
    import('./mcp-server.ts'),
    import('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'),
  ])
  const server = createMcpServer(toolSource(context, caller, request), context.installation.version)
  const transport = new Transport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    const response = await transport.handleRequest(webRequest(request), { parsedBody: message })
    const text = await response.text()
    return { status: response.status, body: text === '' ? [] : [text], headers: [] }
  } finally {
    await server.close()
  }
}

function parseMessage(text: string): Record<string, unknown> | null {
  try {
    const message: unknown = JSON.parse(text)
    return isObject(message) ? message : null
  } catch {
    return null
  }
}

/** The headers that the protocol reads. */
function webRequest({ headers }: ApiRequest): Request {
  const sent = new Headers({ 'content-type': 'application/json' })
  for (const name of ['accept', 'mcp-protocol-version']) {
    const value = headers[name]
    if (typeof value === 'string') sent.set(name, value)
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers: sent })
}

function rpcError(code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })
}

function toolSource(context: ApiContext, caller: Caller, { id, accessRecord }: ApiRequest): ToolSource {
  const asResponse = (thrown: unknown): SourceResponse => {
    const error = toApiError(context, id, thrown)
    return { status: error.status, body: JSON.parse(error.body('top')) }
  }
  const events = eventsEndpoint(async (account, { after, limit }) => {
    const page = await context.events.events(account, after ?? 0, limit)
    if (page.length === 0) await rejectUnknownNumber(context.events, after, await context.events.lastEvent())
    return page
  })
  return {
    async ask(name, parameters) {
      if (name in WATCH_OPERATIONS) {
        const operation = WATCH_OPERATIONS[name as WatchOperationName]
        return operation(context.ledger, caller, parameters).then(
          (body) => ({ status: 200, body: { ...body } }),
          asResponse,
        )
      }
      countCall(accessRecord, name)
      const endpoint = QUERY_ENDPOINTS.get(name) ?? events
      const { status, body, release } = await answerQuery(context, endpoint, caller, parameters, id)
      const text = textOfBody(body)
      release?.()
      return { status, body: JSON.parse(text) }
    },
    openDaily: (date) => openDailyNames(context, caller, date).catch(asResponse),
  }
}

/** Opens the daily file, and charges it as a download. */
async function openDailyNames(
  { fileStore, quotaLimiter }: ApiContext,
  caller: Caller,
  date: string,
): Promise<AsyncIterable<Uint8Array>> {
  daily.authorize?.(caller, { date })
  const { file } = await daily.download!.find(caller, fileStore, { date }).catch(async (thrown) => {
    if (thrown instanceof ApiError && thrown.key === 'no_data') (await quotaLimiter.reserve(caller)).charge('daily')
    throw thrown
  })
  try {
    await quotaLimiter.chargeFile(caller, file.manifest.name, 'daily')
  } catch (error) {
    await file.close()
    throw error
  }
  return bytesOf(file)
}

async function* bytesOf(file: OpenedFile): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of file.read(0, file.manifest.bytes)) yield Buffer.from(chunk)
  } finally {
    await file.close()
  }
}
