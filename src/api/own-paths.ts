/** The pages outside /v1.0/: the quota, health, the OpenAPI document and the page of the crawler. */

import { formatInstant } from '../values/time.ts'
import { authenticateBearer } from './auth/bearer.ts'
import type { ApiContext, HealthState } from './context/context.ts'
import { fileIndexResponse } from './files/file-routes.ts'
import type { ApiRequest } from './http/exchange.ts'
import type { ApiResponse } from './http/response.ts'
import { quotaStatus, rateLimitHeaders } from './quota/rate-limit.ts'

/** Returns the response of a page. */
type PageHandler = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>

/** The pages by path. */
export function pageHandlers(context: ApiContext, document: string, crawler: ApiResponse): Record<string, PageHandler> {
  const openapi: ApiResponse = { status: 200, body: [Buffer.from(document)], headers: [], isShared: true }
  return {
    '/files': (request) => fileIndexResponse(context, request),
    '/crawler': () => crawler,
    '/account/quota': (request) => quotaResponse(context, request),
    '/healthz': () => healthResponse(200, 'ok'),
    '/readyz': () => readinessResponse(context),
    '/openapi.json': () => openapi,
  }
}

/** The daily budget of the account of the bearer token. It is free, even if no unit is left. */
async function quotaResponse(context: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const caller = await authenticateBearer(context, request)
  request.accessRecord.account = caller.account.id
  const { reset, ...status } = await quotaStatus(context, caller)
  const body = JSON.stringify({ ...status, reset: `${formatInstant(reset)}+00:00` })
  return { status: 200, body: [body], headers: rateLimitHeaders(caller, status.remaining ?? 0) }
}

/** Whether a proxy should send requests to this server. */
function readinessResponse({ responses, readiness }: ApiContext): ApiResponse {
  const state = responses.isDraining ? 'draining' : readiness()
  return healthResponse(state === 'ok' ? 200 : 503, state)
}

function healthResponse(status: number, healthState: HealthState): ApiResponse {
  return { status, body: [JSON.stringify({ status: healthState })], headers: [] }
}
