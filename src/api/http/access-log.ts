/** The access log: one line and one observation for every request, when its answer is out or its client gone. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { ApiMetrics } from '../metrics.ts'
import { normalizedPath } from './request.ts'

declare module 'fastify' {
  interface FastifyRequest {
    accessRecord: AccessRecord
  }
}

/** One request, as much as is known of it while it is answered. */
export type AccessRecord = {
  /** The path of its route; null where none takes it. */
  path: string | null
  /** The endpoint's name, for metrics. */
  endpoint: string
  /** Number of the account that calls, once it is known. */
  account: number | null
  /** Called when the answer is out or the client gone. */
  onClose: (() => void)[]
}

/** `onFailure` hears of every client address whose token was missing or is none. */
export type AccessLogOptions = {
  log: Logger
  metrics: ApiMetrics
  monotonicMs: () => number
  onFailure: (address: string) => void
}

/** Characters of an unknown path that are logged, at most. */
const MAX_LOGGED_PATH_LENGTH = 200
/** A run of characters in which a token could hide, also with its characters percent-encoded. */
const POSSIBLE_TOKEN = /[\w%-]{16,}/g

/** Watches one request. Its query string is never logged, because tokens stand there. */
export function logAccess(options: AccessLogOptions, request: FastifyRequest, { raw }: FastifyReply): void {
  const { log, metrics, monotonicMs: ticks, onFailure } = options
  const started = ticks()
  const visit: AccessRecord = { path: null, endpoint: 'other', account: null, onClose: [] }
  request.accessRecord = visit
  raw.on('close', () => {
    const milliseconds = ticks() - started
    for (const end of visit.onClose) end()
    if (raw.statusCode === 401) onFailure(request.ip)
    metrics.observeRequest(visit.endpoint, raw.statusCode, milliseconds / 1000)
    const line = {
      request: request.id,
      method: request.method,
      path: visit.path ?? redactPath(request.url),
      status: raw.statusCode,
      ms: Math.round(milliseconds * 1000) / 1000,
      account: visit.account,
      client: request.ip,
    }
    log.info(raw.writableFinished ? line : { ...line, aborted: true }, 'request')
  })
}

/** A path that no route has, so that anything may stand in it: without whatever is long enough to be a token. */
function redactPath(url: string): string {
  return normalizedPath(url).replace(POSSIBLE_TOKEN, '…').slice(0, MAX_LOGGED_PATH_LENGTH)
}
