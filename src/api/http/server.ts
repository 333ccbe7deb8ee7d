/** The HTTP server of the API: its limits, and the responses to requests without a route. */

import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import proxyAddr from '@fastify/proxy-addr'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { forwardedAddresses } from '../../values/client-address.ts'
import { type AccessLogOptions, beginAccessRecord, endAccessRecord } from './access-log.ts'
import { connectionOf } from './connection.ts'
import { ConnectionManager } from './connection-manager.ts'
import { DirectPath, type DirectPathOptions, type DirectRoutes } from './direct/direct-path.ts'
import { ApiError } from './errors.ts'
import { admitRequest, type HttpContext } from './limits/overload.ts'
import { normalizedPath, parseBody, parseQueryString } from './request.ts'
import { errorResponse, sendResponse, toApiError } from './response.ts'

/** Milliseconds within which the head of a request, and the whole request, must arrive. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
/** Milliseconds that a connection may be idle: longer than in common proxies, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000
/** Milliseconds after which a client that does not read is closed, because it occupies a slot of its account. */
const STALL_TIMEOUT_MS = 60_000
/** Options of node:http. `maxHeaderSize`: bytes, more than enough for a token, a query and a cursor. */
const HTTP_OPTIONS = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16_384,
  requireHostHeader: false, // node:http would reject the request without a body, and no response depends on it
}

type HttpServerOptions = Omit<AccessLogOptions, 'monotonicMs' | 'onFailure'> & {
  settings: { trustedProxies: readonly string[]; directPath?: boolean }
  /** The handlers of the direct path. */
  directRoutes: DirectRoutes
  /** Answers a request before it is routed, and returns whether it did. */
  answerFirst?: (request: FastifyRequest, reply: FastifyReply) => boolean
  /** Answers a request for an unknown path, and returns whether it did. */
  answerUnknown?: (request: FastifyRequest, reply: FastifyReply) => boolean
  /** As `answerFirst`, for a request whose path cannot be decoded. */
  answerUndecodable?: (request: FastifyRequest, reply: FastifyReply) => boolean
  monotonicMs?: () => number
}

/** Creates a server without endpoints. It logs every request, and answers unknown paths with `endpoint_unknown`. */
export function createHttpServer(context: HttpContext, options: HttpServerOptions) {
  const { log, metrics, monotonicMs = () => performance.now(), settings, directRoutes } = options
  const onFailure = (address: string): void => context.clientLimits.countFailure(address)
  const accessLog: AccessLogOptions = { log, metrics, monotonicMs, onFailure }
  const admit = (request: FastifyRequest, reply: FastifyReply): boolean => {
    const { raw } = reply
    request.raw.headers['content-type'] = 'application/json' // every body is read as JSON
    beginAccessRecord(request, accessLog)
    raw.once('close', () => endAccessRecord(accessLog, request, raw.statusCode, raw.writableFinished))
    return admitRequest(context, request, reply)
  }
  const reject = (request: FastifyRequest, reply: FastifyReply): void => {
    const methods = known.methodsOf(normalizedPath(request.url))
    if (methods.length > 0 || !options.answerUnknown?.(request, reply))
      void rejectPath(context, methods, request, reply)
  }
  const nextId = requestIdGenerator()
  const known = new KnownPaths()
  const app = createFastify(settings, nextId, (request, reply) => {
    if (admit(request, reply) && !options.answerUndecodable?.(request, reply)) reject(request, reply)
  })
  app.decorateRequest('accessRecord')
  readAnyBody(app)
  app.addHook('onRoute', ({ url, method }) => known.add(url, method))
  app.addHook('onRequest', (request, reply, done) => {
    if (admit(request, reply) && !options.answerFirst?.(request, reply)) done()
  })
  addErrorHandlers(app, context, reject)
  const directPath = createDirectPath(context, accessLog, { nextId, settings, directRoutes })
  const connections = new ConnectionManager(app.server, monotonicMs, directPath)
  if (settings.trustedProxies.length > 0) app.server.prependListener('request', keepForwardedAddresses)
  return { app, connections }
}

type DirectPathSettings = Pick<HttpServerOptions, 'settings' | 'directRoutes'> & { nextId: () => string }

/** Null if the setting switches the direct path off. */
function createDirectPath(
  context: HttpContext,
  accessLog: AccessLogOptions,
  { nextId, settings, directRoutes }: DirectPathSettings,
): DirectPath | null {
  if (settings.directPath === false) return null
  return new DirectPath({
    nextId,
    clientAddress: clientAddressReader(settings.trustedProxies),
    admit: (request, reply) => {
      beginAccessRecord(request, accessLog)
      return admitRequest(context, request, reply)
    },
    onClosed: (request, status, isFinished) => endAccessRecord(accessLog, request, status, isFinished),
    routes: directRoutes,
    batch: context.responses.batch,
    keepAliveSeconds: KEEP_ALIVE_TIMEOUT_MS / 1000,
  })
}

/** `onBadPath` answers a request whose path cannot be decoded. */
function createFastify(
  settings: HttpServerOptions['settings'],
  nextId: () => string,
  onBadPath: (request: FastifyRequest, reply: FastifyReply) => void,
): FastifyInstance {
  return fastify({
    logger: false,
    genReqId: nextId,
    trustProxy: settings.trustedProxies.length > 0 ? [...settings.trustedProxies] : false,
    routerOptions: {
      ignoreTrailingSlash: true,
      ignoreDuplicateSlashes: true,
      querystringParser: parseQueryString,
      maxParamLength: HTTP_OPTIONS.maxHeaderSize, // the router's own limit is 100; a name has up to 253 characters
    },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: false,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionTimeout: STALL_TIMEOUT_MS,
    http: HTTP_OPTIONS,
    frameworkErrors: (_error, request, reply) => onBadPath(request, reply),
    clientErrorHandler: (error, socket) => rejectUnreadable(nextId(), error, socket),
  })
}

/** No route has a schema for fastify. Its own compilers are 100 modules that each worker would load. */
function noSchemas(): never {
  throw new Error('a route has a schema for fastify, whose compilers are not loaded: remove the schema')
}

type RejectHandler = (request: FastifyRequest, reply: FastifyReply) => void

function addErrorHandlers(app: FastifyInstance, context: HttpContext, reject: RejectHandler): void {
  // ignore an unknown Expect (RFC 9110, section 10.1.1) instead of a 417 without a body
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.setNotFoundHandler(reject)
  app.setErrorHandler((error, request, reply) => {
    if (request.is404) return reject(request, reply)
    const apiError = toApiError(context, request.id, error)
    void sendResponse(
      context.responses,
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

/** Answers `endpoint_unknown`, with the methods of the path if it has any. */
function rejectPath(
  { responses }: HttpContext,
  methods: readonly string[],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const headers = methods.length === 0 ? [] : ['Allow', methods.join(', ')]
  return sendResponse(responses, request, reply, errorResponse(new ApiError('endpoint_unknown'), 'top', headers))
}

/** Answers a request that cannot be parsed. Its path is unknown, so the error has the envelope `top`. */
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
        msg: 'The request cannot be read: percent-encode characters of the URL that are not ASCII, and send no line breaks in headers.',
      })
  const body = apiError.body('top')
  const status = isLong ? '413 Content Too Large' : '404 Not Found'
  const headers = `Request-Id: ${id}\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\n`
  connection?.rejectWith(`HTTP/1.1 ${status}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

/** Returns a function that reads the address of a client, as Fastify does for the requests of node:http. */
function clientAddressReader(trustedProxies: readonly string[]): DirectPathOptions['clientAddress'] {
  if (trustedProxies.length === 0) return ({ socket }) => socket.remoteAddress ?? ''
  const isTrusted = proxyAddr.compile([...trustedProxies])
  return ({ socket, headers }) => {
    const request = { socket, headers: { ...headers } }
    keepForwardedAddresses(request)
    return proxyAddr(request as IncomingMessage, isTrusted)
  }
}

/** So that the client of a proxy that names it by something else is the proxy itself, for Fastify too. */
function keepForwardedAddresses({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const { 'x-forwarded-for': text } = headers
  if (text === undefined) return
  const addresses = forwardedAddresses(String(text))
  if (addresses.length > 0) headers['x-forwarded-for'] = addresses.join(', ')
  else delete headers['x-forwarded-for']
}

/** Generates request IDs: short, and unique across processes. */
function requestIdGenerator(): () => string {
  const prefix = randomBytes(6).toString('base64url')
  let count = 0
  return () => `${prefix}-${(count++).toString(36)}`
}

type KnownPath = { pattern: RegExp; methods: Set<string> }

/** The known paths and their methods. A requested path is compared with them and never parsed as a route. */
class KnownPaths {
  readonly #paths = new Map<string, KnownPath>()

  /** Adds methods to a route. `:name` in the route matches one segment. */
  add(route: string, methods: string | readonly string[]): void {
    const pattern = new RegExp(`^${route.split('/').map(segmentPattern).join('/')}$`)
    const known = this.#paths.get(route) ?? { pattern, methods: new Set() }
    for (const method of [methods].flat()) known.methods.add(method)
    this.#paths.set(route, known)
  }

  /** The methods of a path; none if the path is unknown. */
  methodsOf(path: string): string[] {
    for (const { pattern, methods } of this.#paths.values()) if (pattern.test(path)) return [...methods]
    return []
  }
}

function segmentPattern(segment: string): string {
  return segment.startsWith(':') ? '[^/]+' : segment.replace(/[^\w-]/g, '\\$&')
}
