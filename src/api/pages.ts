/** The paths outside /v1.0/: the quota, health, and the documentation, which is served offline. */

import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addDays, formatInstant, startOf } from '../words/time.ts'
import { compress, type Reply, refusalReply, send } from './answer.ts'
import { documentHeaders, rateHeaders } from './headers.ts'
import { refusalOf, type Site } from './site.ts'
import { bearerOf } from './wire.ts'

/** Only what this server itself sends may run or be shown; nothing inline runs. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** What a path of ours answers with. */
type Page = (request: FastifyRequest) => Reply | Promise<Reply>

/** The pages by their paths. */
export function pagesOf(site: Site, document: string, crawler: Reply): Record<string, Page> {
  return {
    '/crawler': () => crawler,
    '/account/quota': (request) => quota(site, request),
    '/healthz': () => health(200, 'ok'),
    '/readyz': () => readiness(site),
    '/openapi.json': () => ({ status: 200, body: [document], headers: [] }),
  }
}

/** The daily budget of the account that the bearer's token stands for. Costs nothing, also with nothing left. */
async function quota({ gate, meter }: Site, request: FastifyRequest): Promise<Reply> {
  const caller = await gate.admit(bearerOf(request))
  request.visit.account = caller.account.id
  const used = await meter.used(caller)
  const { queries: limit } = caller.limits
  const remaining = Math.max(0, limit - used)
  const reset = `${formatInstant(startOf(addDays(caller.today, 1)))}+00:00`
  const body = JSON.stringify({ limit, used, remaining, reset })
  return { status: 200, body: [body], headers: rateHeaders(caller, remaining) }
}

/** Whether a proxy should send requests here. */
function readiness({ outlet, isReady }: Site): Reply {
  if (outlet.isDraining) return health(503, 'draining')
  return isReady() ? health(200, 'ok') : health(503, 'waiting for the store')
}

function health(status: number, word: string): Reply {
  return { status, body: [JSON.stringify({ status: word })], headers: [] }
}

export async function answerPage(site: Site, page: Page, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  try {
    await send(site.outlet, request, reply, await page(request))
  } catch (thrown) {
    const refusal = refusalOf(site, request.id, thrown)
    const challenge = refusal.status === 401 ? ['WWW-Authenticate', 'Bearer'] : []
    await send(site.outlet, request, reply, refusalReply(refusal, 'top', challenge))
  }
}

/** The document to be read and tried out in a browser, under /docs. */
export async function addDocs(app: FastifyInstance, document: Record<string, unknown>): Promise<void> {
  await app.register(async (docs) => {
    docs.addHook('onRequest', async (request, reply) => void reply.headers(documentHeaders(request.id)))
    docs.addHook('onSend', compress)
    await docs.register(swagger, { mode: 'static', specification: { document: document as never } })
    await docs.register(swaggerUi, {
      routePrefix: '/docs',
      uiConfig: { validatorUrl: null },
      staticCSP: CONTENT_SECURITY_POLICY,
    })
  })
}
