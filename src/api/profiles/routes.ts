/** The routes of the profiles: their endpoints, paths and parameters. */

import type { FastifyRequest } from 'fastify'
import { authenticateBearerOrSession } from '../auth/bearer.ts'
import type { ApiContext } from '../context.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import type { QuerySource } from '../http/query-handler.ts'
import { domain } from './domain.ts'
import { ip } from './ip.ts'

/** The query is the last segment of the path. */
export const PROFILE_ROUTES: readonly { endpoint: Endpoint; path: string }[] = [
  { endpoint: domain, path: '/domain/:query' },
  { endpoint: ip, path: '/ip/:query' },
]

export function profileSource(context: Pick<ApiContext, 'authenticator' | 'sessions'>): QuerySource {
  return {
    read: (request) => ({ query: (request as FastifyRequest<{ Params: { query: string } }>).params.query }),
    authenticate: (request) => authenticateBearerOrSession(context, request),
  }
}
