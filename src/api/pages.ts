/** The paths outside /v1.0/ that answer with a text: the quota, health, the OpenAPI document, the crawler's page. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { addDays, formatInstant, startOf } from '../words/time.ts'
import { type Reply, refusalReply, send } from './answer.ts'
import { rateHeaders } from './headers.ts'
import { refusalOf, type Site } from './site.ts'
import { bearerOf } from './wire.ts'

/** What a path of ours answers with. */
type Page = (request: FastifyRequest) => Reply | Promise<Reply>

/** The pages by their paths. */
export function pagesOf(site: Site, document: string, crawler: Reply): Record<string, Page> {
  const openapi: Reply = { status: 200, body: [Buffer.from(document)], headers: [], isFixed: true }
  return {
    '/crawler': () => crawler,
    '/account/quota': (request) => quota(site, request),
    '/healthz': () => health(200, 'ok'),
    '/readyz': () => readiness(site),
    '/openapi.json': () => openapi,
  }
}

/** The daily budget of the account that the bearer's token stands for. Costs nothing, also with nothing left. */
async function quota({ gate, meter }: Site, request: FastifyRequest): Promise<Reply> {
  const caller = await gate.admit(bearerOf(request), request.ip)
  request.visit.account = caller.account.id
  const used = await meter.used(caller)
  const { queries: limit } = caller.limits
  const remaining = limit === null ? null : Math.max(0, limit - used)
  const reset = `${formatInstant(startOf(addDays(caller.today, 1)))}+00:00`
  const body = JSON.stringify({ limit, used, remaining, reset })
  return { status: 200, body: [body], headers: rateHeaders(caller, remaining ?? 0) }
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
