/** The routes of the web page for the data of an account: queries, tokens, usage, plan and files. */

import type { FastifyInstance } from 'fastify'
import type { ApiContext } from '../context.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { handleQuery, type QuerySource } from '../http/query-handler.ts'
import { readJsonObject, readParameters } from '../http/request.ts'
import { addPageRoute, type RouteHandler } from '../http/routes.ts'
import { appRoute } from './app-handler.ts'
import { handleDownload } from './download.ts'
import { showFiles } from './files.ts'
import { showPlan } from './plan.ts'
import { readBody } from './request-values.ts'
import { createToken, listTokens, revokeToken, rotateToken } from './tokens.ts'
import { downloadUsage, showUsage } from './usage.ts'

export function addDataRoutes(app: FastifyInstance, context: ApiContext, endpoints: readonly Endpoint[]): void {
  const read = { csrf: false }
  const change = { csrf: true }
  addPageRoute(app, context, '/app/tokens', {
    GET: appRoute(context, listTokens, read),
    POST: appRoute(context, createToken, change),
  })
  addPageRoute(app, context, '/app/tokens/:id', { DELETE: appRoute(context, revokeToken, change) })
  addPageRoute(app, context, '/app/tokens/:id/rotate', { POST: appRoute(context, rotateToken, change) })
  addPageRoute(app, context, '/app/usage', { GET: appRoute(context, showUsage, read) })
  addPageRoute(app, context, '/app/usage.csv', { GET: appRoute(context, downloadUsage, read) })
  addPageRoute(app, context, '/app/plan', { GET: appRoute(context, showPlan, read) })
  addPageRoute(app, context, '/app/files', { GET: appRoute(context, showFiles, read) })
  addPageRoute(app, context, '/app/files/:filename', {
    GET: (request, reply) => handleDownload(context, request, reply),
  })
  for (const endpoint of endpoints) {
    const handler = sessionQuery(context, endpoint)
    addPageRoute(app, context, `/app/api/${endpoint.name}`, { GET: handler, POST: handler })
  }
}

/** A query of a session: the handler of `/v1.0/`, charged to the account. */
function sessionQuery(context: ApiContext, endpoint: Endpoint): RouteHandler {
  const source: QuerySource = {
    read: (request) => (request.method === 'POST' ? (readJsonObject(request) ?? {}) : readParameters(request)),
    async authenticate(request) {
      const caller = await context.sessions.authenticateSession(request, { csrf: true })
      if (request.method === 'POST') readBody(request) // throws if it is not a JSON object, after the session is checked
      return caller
    },
  }
  return (request, reply) => {
    request.accessRecord.endpoint = endpoint.name
    return handleQuery(context, endpoint, source, request, reply)
  }
}
