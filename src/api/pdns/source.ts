/** How a request for passive DNS is read: the query from the path, the token from Basic or Bearer authentication. */

import type { FastifyRequest } from 'fastify'
import { authenticateBasicOrBearer } from '../auth/bearer.ts'
import type { ApiContext } from '../context.ts'
import type { Parameters } from '../endpoints/parameters.ts'
import type { QuerySource } from '../http/query-handler.ts'

export const PDNS_PATH = '/pdns/query/:query'

type PdnsRequest = FastifyRequest<{ Params: { query: string } }>

export function pdnsSource(context: Pick<ApiContext, 'authenticator'>): QuerySource {
  return {
    read: (request) => ({ ...(request.query as Parameters), query: (request as PdnsRequest).params.query }),
    authenticate: (request) => authenticateBasicOrBearer(context, request),
  }
}
