/** The access log: one line and one observation for every request, when its answer is out or its client gone. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { Metrics } from './metrics.ts'
import { pathOf } from './wire.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Number of the account that calls, once it is known. */
    account: number | null
    /** The endpoint's name, for metrics. */
    endpoint: string | null
    /** Called when the answer is out or the client gone. */
    leave: (() => void) | null
  }
}

/** Characters of an unknown path that are logged, at most. */
const PATH_LENGTH = 200
/** A run of characters in which a token could hide, also with its characters percent-encoded. */
const SECRETIVE = /[\w%-]{16,}/g

export type Watch = { log: Logger; metrics: Metrics; ticks: () => number }

/** Watches one request. Its query string is never logged, because tokens stand there. */
export function watch({ log, metrics, ticks }: Watch, request: FastifyRequest, { raw }: FastifyReply): void {
  const started = ticks()
  raw.once('close', () => {
    const milliseconds = ticks() - started
    request.leave?.()
    metrics.observe(request.endpoint ?? 'other', raw.statusCode, milliseconds / 1000)
    const { id, method, account = null, ip: client } = request
    const path = request.routeOptions.url ?? harmless(request.url)
    const ms = Math.round(milliseconds * 1000) / 1000
    const line = { request: id, method, path, status: raw.statusCode, ms, account, client }
    log.info(raw.writableFinished ? line : { ...line, aborted: true }, 'request')
  })
}

/** A path that no route has, so that anything may stand in it: without whatever is long enough to be a token. */
function harmless(url: string): string {
  return pathOf(url).replace(SECRETIVE, '…').slice(0, PATH_LENGTH)
}
