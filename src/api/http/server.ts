/** The HTTP server under the API: its bounds, and the answers to requests that no route takes. */

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type ApiContext, toApiError } from '../context.ts'
import { ApiError } from '../errors.ts'
import { type AccessLogOptions, logAccess } from './access-log.ts'
import { connectionOf } from './connection.ts'
import { ConnectionManager } from './connection-manager.ts'
import { KnownPaths } from './known-paths.ts'
import { admitRequest } from './limits/overload.ts'
import { normalizedPath, parseBody, parseQueryString } from './request.ts'
import { errorResponse, sendResponse } from './response.ts'

/** Milliseconds in which the head of a request must have come, and then all of it. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
/** Milliseconds that a kept connection may be idle: longer than common proxies keep theirs, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000
/** Milliseconds after which a client that takes nothing is looked at, and closed at the next look: it keeps its account's place. */
const STALL_TIMEOUT_MS = 60_000
/** Settings of node:http. `maxHeaderSize`: bytes; a token, a query and a cursor fit with room to spare. */
const HTTP_OPTIONS = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16_384,
  requireHostHeader: false, // node:http would refuse it without a body, and no answer depends on it
}

export type HttpServerOptions = Omit<AccessLogOptions, 'monotonicMs' | 'onFailure'> & {
  settings: { trustedProxies: readonly string[] }
  monotonicMs?: () => number
}

/** A server without endpoints. Every request is watched, every unknown path answered with `endpoint_unknown`. */
export function createHttpServer(
  context: ApiContext,
  { log, metrics, monotonicMs: ticks = () => performance.now(), settings }: HttpServerOptions,
) {
  const begin = (request: FastifyRequest, reply: FastifyReply): boolean => {
    logAccess(
      { log, metrics, monotonicMs: ticks, onFailure: (address) => context.clientLimits.countFailure(address) },
      request,
      reply,
    )
    return admitRequest(context, request, reply)
  }
  const refuse = (request: FastifyRequest, reply: FastifyReply): void =>
    void rejectUnknownPath(context, known, request, reply)
  const nextId = requestIdGenerator()
  const known = new KnownPaths()
  const app = fastify({
    logger: false,
    genReqId: nextId,
    trustProxy: settings.trustedProxies.length > 0 ? [...settings.trustedProxies] : false,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, querystringParser: parseQueryString },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionTimeout: STALL_TIMEOUT_MS,
    http: HTTP_OPTIONS,
    frameworkErrors: (_error, request, reply) => {
      if (begin(request, reply)) refuse(request, reply)
    },
    clientErrorHandler: (error, socket) => rejectUnreadable(nextId(), error, socket),
  })
  app.decorateRequest('visit')
  readAnyBody(app)
  app.addHook('onRoute', ({ url, method }) => known.add(url, method))
  app.addHook('onRequest', (request, reply, done) => {
    request.raw.headers['content-type'] = 'application/json' // whatever it says, a body is read as JSON
    if (begin(request, reply)) done()
  })
  addErrorHandlers(app, context, refuse)
  return { app, front: new ConnectionManager(app.server, ticks) }
}

type RejectHandler = (request: FastifyRequest, reply: FastifyReply) => void

function addErrorHandlers(app: FastifyInstance, site: ApiContext, reject: RejectHandler): void {
  // an Expect that nobody knows is answered like none (RFC 9110, chapter 10.1.1), not with a 417 without a body
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.setNotFoundHandler(reject)
  app.setErrorHandler((error, request, reply) => {
    if (request.is404) return reject(request, reply)
    const apiError = toApiError(site, request.id, error)
    void sendResponse(
      site.responses,
      request,
      reply,
      errorResponse(apiError, request.routeOptions.config.envelope ?? 'top'),
    )
  })
}

function readAnyBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', parseBody)
}

/** `endpoint_unknown`, with the methods that the path has, where it has any. */
function rejectUnknownPath(
  { responses }: ApiContext,
  known: KnownPaths,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const methods = known.methodsOf(normalizedPath(request.url))
  const headers = methods.length === 0 ? [] : ['Allow', methods.join(', ')]
  return sendResponse(responses, request, reply, errorResponse(new ApiError('endpoint_unknown'), 'top', headers))
}

/** Answers what is no request that could be read: there is no path to tell whose it is. */
function rejectUnreadable(id: string, error: NodeJS.ErrnoException, socket: Socket): void {
  const connection = connectionOf(socket)
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connection !== undefined)
    return void connection.abandonPartialRequest()
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const isLong = error.code === 'HPE_HEADER_OVERFLOW'
  const apiError = isLong
    ? new ApiError('body_too_large', {
        msg: 'The head of a request may have at most 16 KiB: send the parameters by POST.',
      })
    : new ApiError('endpoint_unknown', {
        msg: 'The request cannot be read. An address has ASCII characters only: others are percent-encoded.',
      })
  const body = apiError.body('top')
  const status = isLong ? '413 Content Too Large' : '404 Not Found'
  const headers = `Request-Id: ${id}\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\n`
  connection?.rejectWith(`HTTP/1.1 ${status}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

/** Names of requests: unlike those of every other process, and short. */
function requestIdGenerator(): () => string {
  const prefix = randomBytes(6).toString('base64url')
  let count = 0
  return () => `${prefix}-${(count++).toString(36)}`
}
