/** Adds routes to the server, each with its answer to OPTIONS. */

import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { preflightHeaders } from './headers.ts'
import type { HttpContext } from './limits/overload.ts'
import { sendResponse } from './response.ts'

/** Sends the response itself. */
export type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** Adds a route, and a route for OPTIONS. */
export function addRoute(
  app: FastifyInstance,
  context: HttpContext,
  url: string,
  method: string[],
  handler: RouteHandler,
  config: FastifyContextConfig = {},
): void {
  addMethods(app, url, method, handler, config)
  addOptions(app, context, url, method, config)
}

/** The handlers of a path by method. HEAD is answered as GET. */
type PageMethods = Partial<Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', RouteHandler>>

/** Adds a path of the web page: no other origin may read its responses. */
export function addPageRoute(app: FastifyInstance, context: HttpContext, url: string, handlers: PageMethods): void {
  const config = { isSameOrigin: true }
  const methods: string[] = []
  for (const [name, handler] of Object.entries(handlers)) {
    const method = name === 'GET' ? ['GET', 'HEAD'] : [name]
    addMethods(app, url, method, handler, config)
    methods.push(...method)
  }
  addOptions(app, context, url, methods, config)
}

function addMethods(
  app: FastifyInstance,
  url: string,
  method: string[],
  handler: RouteHandler,
  config: FastifyContextConfig,
): void {
  app.route({
    method,
    url,
    config,
    handler: (request, reply) => {
      request.accessRecord.path = url
      return handler(request, reply)
    },
  })
}

function addOptions(
  app: FastifyInstance,
  { responses }: HttpContext,
  url: string,
  methods: readonly string[],
  config: FastifyContextConfig,
): void {
  const allow = [...methods, 'OPTIONS'].join(', ')
  const headers = config.isSameOrigin ? ['Allow', allow] : preflightHeaders(responses.cors, allow)
  const preflight = { status: 204, body: [], headers }
  app.options(url, { config }, (request, reply) => sendResponse(responses, request, reply, preflight))
}
