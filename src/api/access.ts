/** The access log: one line and one observation for every request, when its answer is out or its client gone. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Metrics } from './metrics.ts'
import { pathOf } from './wire.ts'

declare module 'fastify' {
  interface FastifyRequest {
    visit: Visit
  }
}

/** One request, as much as is known of it while it is answered. */
export type Visit = {
  /** The path of its route; null where none takes it. */
  path: string | null
  /** The endpoint's name, for metrics. */
  endpoint: string
  /** Number of the account that calls, once it is known. */
  account: number | null
  /** Called when the answer is out or the client gone. */
  end: (() => void)[]
}

/** `onFailure` hears of every client address whose token was missing or is none. */
export type Watch = { log: Logger; metrics: Metrics; ticks: () => number; onFailure: (address: string) => void }

/** Characters of an unknown path that are logged, at most. */
const PATH_LENGTH = 200
/** A run of characters in which a token could hide, also with its characters percent-encoded. */
const SECRETIVE = /[\w%-]{16,}/g

/** Watches one request. Its query string is never logged, because tokens stand there. */
export function watch(given: Watch, request: FastifyRequest, { raw }: FastifyReply): void {
  const { log, metrics, ticks, onFailure } = given
  const started = ticks()
  const visit: Visit = { path: null, endpoint: 'other', account: null, end: [] }
  request.visit = visit
  raw.on('close', () => {
    const milliseconds = ticks() - started
    for (const end of visit.end) end()
    if (raw.statusCode === 401) onFailure(request.ip)
    metrics.observe(visit.endpoint, raw.statusCode, milliseconds / 1000)
    const line = {
      request: request.id,
      method: request.method,
      path: visit.path ?? harmless(request.url),
      status: raw.statusCode,
      ms: Math.round(milliseconds * 1000) / 1000,
      account: visit.account,
      client: request.ip,
    }
    log.info(raw.writableFinished ? line : { ...line, aborted: true }, 'request')
  })
}

/** A path that no route has, so that anything may stand in it: without whatever is long enough to be a token. */
function harmless(url: string): string {
  return pathOf(url).replace(SECRETIVE, '…').slice(0, PATH_LENGTH)
}
