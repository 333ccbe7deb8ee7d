/** The routes of the web page: queries, tokens, usage, plan and files of an account, signing in and sessions. */

import type { FastifyInstance } from 'fastify'
import type { ApiContext } from '../context/context.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { readJsonObject, readParameters } from '../http/request.ts'
import { addPageRoute, type RouteHandler } from '../http/routes.ts'
import { handleQuery, type QuerySource } from '../queries/query-handler.ts'
import { appRoute, openRoute } from './app-handler.ts'
import { handleDownload, showFiles } from './files.ts'
import { readBody } from './request-values.ts'
import { changePassword, endOtherSessions, endSession, listSessions } from './sessions.ts'
import { setUp, showSession, signIn, signInByLink, signOut } from './sign-in.ts'
import { forgotPassword, resetPassword, signUp, verify } from './sign-up.ts'
import { createToken, listTokens, revokeToken, rotateToken } from './tokens.ts'
import { downloadUsage, showPlan, showUsage } from './usage.ts'

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

export function addSignInRoutes(app: FastifyInstance, context: ApiContext): void {
  const change = { csrf: true }
  const read = { csrf: false }
  addPageRoute(app, context, '/app/session', { GET: openRoute(context, showSession, { isChange: false }) })
  addPageRoute(app, context, '/app/sign-in', { POST: openRoute(context, signIn, { isChange: true }) })
  addPageRoute(app, context, '/app/sign-in/link', { POST: openRoute(context, signInByLink, { isChange: true }) })
  addPageRoute(app, context, '/app/setup', { POST: openRoute(context, setUp, { isChange: true }) })
  addMailRoutes(app, context)
  addPageRoute(app, context, '/app/sign-out', { POST: appRoute(context, signOut, change) })
  addPageRoute(app, context, '/app/sessions', {
    GET: appRoute(context, listSessions, read),
    DELETE: appRoute(context, endOtherSessions, change),
  })
  addPageRoute(app, context, '/app/sessions/:id', { DELETE: appRoute(context, endSession, change) })
  addPageRoute(app, context, '/app/password', { POST: appRoute(context, changePassword, change) })
}

/** New accounts and new passwords by mail. */
function addMailRoutes(app: FastifyInstance, context: ApiContext): void {
  const open = { isChange: true }
  addPageRoute(app, context, '/app/sign-up', { POST: openRoute(context, signUp, open) })
  addPageRoute(app, context, '/app/verify', { POST: openRoute(context, verify, open) })
  addPageRoute(app, context, '/app/password/forgot', { POST: openRoute(context, forgotPassword, open) })
  addPageRoute(app, context, '/app/password/reset', { POST: openRoute(context, resetPassword, open) })
}
