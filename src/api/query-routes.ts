/** The paths that answer queries: the seven endpoints, profiles, passive DNS, batches and tools. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authenticateBasicOrBearer, authenticateBearerOrSession } from './auth/bearer.ts'
import { handleBatch } from './batch/batch.ts'
import { MAX_BATCH_BODY_BYTES } from './batch/batch-lines.ts'
import type { ApiContext } from './context/context.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import { ENDPOINTS, PROFILE_ROUTES } from './endpoints/endpoints.ts'
import { pdns } from './endpoints/pdns.ts'
import type { DirectRoutes } from './http/direct/direct-path.ts'
import type { ApiReply, ApiRequest } from './http/exchange.ts'
import type { Parameters } from './http/parameters.ts'
import { readParameters } from './http/request.ts'
import { sendResponse } from './http/response.ts'
import { addRoute, type RouteHandler } from './http/routes.ts'
import { handleMcp, MCP_METHOD_RESPONSE } from './mcp/mcp.ts'
import { handleQuery, type QuerySource } from './queries/query-handler.ts'

const QUERY_METHODS = ['GET', 'HEAD', 'POST']
const READ_METHODS = ['GET', 'HEAD']
const PDNS_PATH = '/pdns/query/:query'

/** The paths that answer queries. */
export function addQueryRoutes(app: FastifyInstance, context: ApiContext): void {
  addEndpointRoutes(app, context)
  addProfileRoutes(app, context)
  addBatchRoute(app, context)
  addMcpRoute(app, context)
}

function addEndpointRoutes(app: FastifyInstance, context: ApiContext): void {
  for (const endpoint of ENDPOINTS) {
    const { envelope } = endpoint
    addRoute(app, context, endpointPath(endpoint), QUERY_METHODS, v1Handler(context, endpoint), { envelope })
  }
}

function addBatchRoute(app: FastifyInstance, context: ApiContext): void {
  const handler: RouteHandler = (request, reply) => {
    request.accessRecord.endpoint = 'batch'
    return handleBatch(context, request, reply)
  }
  addRoute(app, context, '/batch', ['POST'], handler, { maxBodyBytes: MAX_BATCH_BODY_BYTES })
}

function addMcpRoute(app: FastifyInstance, context: ApiContext): void {
  const handler: RouteHandler = (request, reply) => {
    request.accessRecord.endpoint = 'mcp'
    return handleMcp(context, request, reply)
  }
  addRoute(app, context, '/mcp', ['POST'], handler)
  const methods = ['GET', 'DELETE']
  const refuse: RouteHandler = (request, reply) => sendResponse(context.responses, request, reply, MCP_METHOD_RESPONSE)
  app.route({ method: methods, url: '/mcp', handler: refuse })
}

function addProfileRoutes(app: FastifyInstance, context: ApiContext): void {
  for (const { endpoint, path } of PROFILE_ROUTES) {
    addRoute(app, context, path, READ_METHODS, endpointHandler(context, endpoint, path, profileSource(context)))
  }
  addRoute(app, context, PDNS_PATH, READ_METHODS, endpointHandler(context, pdns, PDNS_PATH, pdnsSource(context)))
}

export function directRoutes(context: ApiContext): DirectRoutes {
  return new Map(
    ENDPOINTS.map((endpoint) => {
      const { envelope } = endpoint
      return [endpointPath(endpoint), { config: { envelope }, handle: v1Handler(context, endpoint) }]
    }),
  )
}

function endpointPath({ name }: Endpoint): string {
  return `/v1.0/${name}`
}

function v1Handler(context: ApiContext, endpoint: Endpoint) {
  return endpointHandler(context, endpoint, endpointPath(endpoint), {
    read: readParameters,
    authenticate: ({ ip }, { token }) => context.authenticator.authenticate(token, ip),
  })
}

type ProfileRequest = FastifyRequest<{ Params: { query?: string; prefix?: string } }>

/** Returns the function that handles the requests of an endpoint on a path. */
function endpointHandler(context: ApiContext, endpoint: Endpoint, path: string, source: QuerySource) {
  return (request: ApiRequest, reply: ApiReply): Promise<void> => {
    request.accessRecord.path = path
    request.accessRecord.endpoint = endpoint.name
    return handleQuery(context, endpoint, source, request, reply)
  }
}

function profileSource(context: Pick<ApiContext, 'authenticator' | 'sessions'>): QuerySource {
  return {
    read: (request) => {
      const { query, prefix } = (request as ProfileRequest).params
      const { token: _token, ...options } = request.query as Parameters
      if (query === undefined) return options
      return { ...options, query: prefix === undefined ? query : `${query}/${prefix}` }
    },
    authenticate: (request) => authenticateBearerOrSession(context, request),
  }
}

type PdnsRequest = FastifyRequest<{ Params: { query: string } }>

function pdnsSource(context: Pick<ApiContext, 'authenticator'>): QuerySource {
  return {
    read: (request) => ({ ...(request.query as Parameters), query: (request as PdnsRequest).params.query }),
    authenticate: (request) => authenticateBasicOrBearer(context, request),
  }
}
