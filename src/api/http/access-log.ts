/** The access log: one log line and one metrics sample for every request, when its response is closed. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { ApiMetrics } from '../metrics.ts'
import { normalizedPath } from './request.ts'

declare module 'fastify' {
  interface FastifyRequest {
    accessRecord: AccessRecord
  }
}

/** What the access log records about a request. */
export type AccessRecord = {
  /** The path of its route; null if no route matches. */
  path: string | null
  /** The endpoint's name, for metrics. */
  endpoint: string
  /** The ID of the account; null until it is known. */
  account: number | null
  /** Called when the response is sent or the client has disconnected. */
  onClose: (() => void)[]
}

/** `onFailure` is called with the client address after every 401 response. */
export type AccessLogOptions = {
  log: Logger
  metrics: ApiMetrics
  monotonicMs: () => number
  onFailure: (address: string) => void
}

/** The maximum number of logged characters of an unknown path. */
const MAX_LOGGED_PATH_LENGTH = 200
/** A sequence of characters that may contain a token, even if it is percent-encoded. */
const POSSIBLE_TOKEN = /[\w%-]{16,}/g

/** Logs one request when its response is closed. It never logs the query string, which may contain a token. */
export function logAccess(options: AccessLogOptions, request: FastifyRequest, { raw }: FastifyReply): void {
  const { log, metrics, monotonicMs, onFailure } = options
  const startedAt = monotonicMs()
  const record: AccessRecord = { path: null, endpoint: 'other', account: null, onClose: [] }
  request.accessRecord = record
  raw.on('close', () => {
    const milliseconds = monotonicMs() - startedAt
    for (const end of record.onClose) end()
    if (raw.statusCode === 401) onFailure(request.ip)
    metrics.observeRequest(record.endpoint, raw.statusCode, milliseconds / 1000)
    const line = {
      request: request.id,
      method: request.method,
      path: record.path ?? redactPath(request.url),
      status: raw.statusCode,
      ms: Math.round(milliseconds * 1000) / 1000,
      account: record.account,
      client: request.ip,
    }
    log.info(raw.writableFinished ? line : { ...line, aborted: true }, 'request')
  })
}

/** An unknown path without everything that is long enough to be a token. */
function redactPath(url: string): string {
  return normalizedPath(url).replace(POSSIBLE_TOKEN, '…').slice(0, MAX_LOGGED_PATH_LENGTH)
}
