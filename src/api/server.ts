/** The HTTP server under the API: its bounds, and the answers to requests that no route takes. */

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type Watch, watch } from './access.ts'
import { refusalReply, send } from './answer.ts'
import { connectionOf } from './connection.ts'
import { Refusal } from './errors.ts'
import { Front } from './front.ts'
import { KnownPaths } from './known-paths.ts'
import { admits } from './overload.ts'
import { refusalOf, type Site } from './site.ts'
import { pathOf, readBody, readQueryString } from './wire.ts'

/** Milliseconds in which the head of a request must have come, and then all of it. */
const HEAD_TIMEOUT = 10_000
const REQUEST_TIMEOUT = 30_000
/** Milliseconds that a kept connection may be idle: longer than common proxies keep theirs, so that they close first. */
const IDLE_TIMEOUT = 75_000
/** Milliseconds after which a client that takes nothing is looked at, and closed at the next look: it keeps its account's place. */
const STALL_TIMEOUT = 60_000
/** Settings of node:http. `maxHeaderSize`: bytes; a token, a query and a cursor fit with room to spare. */
const HTTP = {
  headersTimeout: HEAD_TIMEOUT,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16_384,
  requireHostHeader: false, // node:http would refuse it without a body, and no answer depends on it
}

export type ServerOptions = Omit<Watch, 'ticks' | 'onFailure'> & {
  settings: { trustedProxies: readonly string[] }
  ticks?: () => number
}

/** A server without endpoints. Every request is watched, every unknown path answered with `endpoint_unknown`. */
export function makeServer(site: Site, { log, metrics, ticks = () => performance.now(), settings }: ServerOptions) {
  const begin = (request: FastifyRequest, reply: FastifyReply): boolean => {
    watch({ log, metrics, ticks, onFailure: (address) => site.clients.countFailure(address) }, request, reply)
    return admits(site, request, reply)
  }
  const refuse = (request: FastifyRequest, reply: FastifyReply): void => void refuseUnknown(site, known, request, reply)
  const nextId = idMaker()
  const known = new KnownPaths()
  const app = fastify({
    logger: false,
    genReqId: nextId,
    trustProxy: settings.trustedProxies.length > 0 ? [...settings.trustedProxies] : false,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, querystringParser: readQueryString },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: false,
    requestTimeout: REQUEST_TIMEOUT,
    keepAliveTimeout: IDLE_TIMEOUT,
    connectionTimeout: STALL_TIMEOUT,
    http: HTTP,
    frameworkErrors: (_error, request, reply) => {
      if (begin(request, reply)) refuse(request, reply)
    },
    clientErrorHandler: (error, socket) => refuseUnreadable(nextId(), error, socket),
  })
  app.decorateRequest('visit')
  readAnyBody(app)
  app.addHook('onRoute', ({ url, method }) => known.add(url, method))
  app.addHook('onRequest', (request, reply, done) => {
    request.raw.headers['content-type'] = 'application/json' // whatever it says, a body is read as JSON
    if (begin(request, reply)) done()
  })
  addRefusals(app, site, refuse)
  return { app, front: new Front(app.server, ticks) }
}

type Refuse = (request: FastifyRequest, reply: FastifyReply) => void

function addRefusals(app: FastifyInstance, site: Site, refuse: Refuse): void {
  // an Expect that nobody knows is answered like none (RFC 9110, chapter 10.1.1), not with a 417 without a body
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.setNotFoundHandler(refuse)
  app.setErrorHandler((error, request, reply) => {
    if (request.is404) return refuse(request, reply)
    const refusal = refusalOf(site, request.id, error)
    void send(site.outlet, request, reply, refusalReply(refusal, request.routeOptions.config.envelope ?? 'top'))
  })
}

function readAnyBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', readBody)
}

/** `endpoint_unknown`, with the methods that the path has, where it has any. */
function refuseUnknown(
  { outlet }: Site,
  known: KnownPaths,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const methods = known.methodsOf(pathOf(request.url))
  const headers = methods.length === 0 ? [] : ['Allow', methods.join(', ')]
  return send(outlet, request, reply, refusalReply(new Refusal('endpoint_unknown'), 'top', headers))
}

/** Answers what is no request that could be read: there is no path to tell whose it is. */
function refuseUnreadable(id: string, error: NodeJS.ErrnoException, socket: Socket): void {
  const connection = connectionOf(socket)
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connection !== undefined) return void connection.giveUp()
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const isLong = error.code === 'HPE_HEADER_OVERFLOW'
  const refusal = isLong
    ? new Refusal('body_too_large', {
        msg: 'The head of a request may have at most 16 KiB: send the parameters by POST.',
      })
    : new Refusal('endpoint_unknown', {
        msg: 'The request cannot be read. An address has ASCII characters only: others are percent-encoded.',
      })
  const body = refusal.body('top')
  const status = isLong ? '413 Content Too Large' : '404 Not Found'
  const headers = `Request-Id: ${id}\r\nContent-Type: application/json; charset=utf-8\r\nConnection: close\r\n`
  connection?.refuse(`HTTP/1.1 ${status}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

/** Names of requests: unlike those of every other process, and short. */
function idMaker(): () => string {
  const prefix = randomBytes(6).toString('base64url')
  let count = 0
  return () => `${prefix}-${(count++).toString(36)}`
}
