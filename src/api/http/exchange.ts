/** What handlers see of one request and its response, whether node:http or the direct path has read the request. */

import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyContextConfig } from 'fastify'
import type { ResponseBody } from './write-parts.ts'

/** What the access log records about a request. */
export type AccessRecord = {
  /** The path of its route; null if no route matches. */
  path: string | null
  /** The endpoint's name, for metrics. */
  endpoint: string
  /** The ID of the account; null until it is known. */
  account: number | null
  /** The calls of a batch or of tools, by the name of their endpoint; null for any other request. */
  calls: Map<string, number> | null
  /** Called when the response is sent or the client has disconnected. */
  onClose: (() => void)[]
  /** Monotonic milliseconds. */
  readonly startedAt: number
}

/** Counts a call that a batch or a tool makes. `endpoint`: one of a fixed set. */
export function countCall(record: AccessRecord, endpoint: string): void {
  record.calls ??= new Map()
  record.calls.set(endpoint, (record.calls.get(endpoint) ?? 0) + 1)
}

/** A request. Those of Fastify have this form. */
export type ApiRequest = {
  readonly id: string
  readonly method: string
  readonly url: string
  /** The parameters of the query string. */
  readonly query: unknown
  /** The body as text; undefined if there is none. */
  readonly body: unknown
  readonly headers: Readonly<IncomingHttpHeaders>
  /** The address of the client, by X-Forwarded-For if a trusted proxy sent the request. */
  readonly ip: string
  readonly raw: { readonly socket: Socket }
  readonly routeOptions: { readonly config: FastifyContextConfig }
  accessRecord: AccessRecord
}

/** A response. Those of Fastify have this form. */
export type ApiReply = {
  /** The response of node:http. On the direct path it is created by its first use. */
  readonly raw: ServerResponse
  /**
   * Sends a whole response. Only replies of the direct path have it. `headers`: names and values alternately. Returns
   * false, and sends nothing, if `raw` is in use.
   */
  readonly sendWhole?: (status: number, headers: readonly string[], body: ResponseBody, isLast: boolean) => boolean
}
