/** Sends responses: gzips the body if the client accepts that, and sends a long one in chunks. */

import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gzip as gzipCallback, gzipSync } from 'node:zlib'
import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import type { ApiError, Envelope } from '../errors.ts'
import { connectionOf } from './connection.ts'
import type { ApiReply, ApiRequest } from './exchange.ts'
import { COMMON_HEADERS, type Cors, corsHeaders, type Headers } from './headers.ts'
import { acceptsGzip } from './request.ts'

const gzipBuffer = promisify(gzipCallback)

/** Bodies with more bytes are gzipped. */
const MIN_GZIP_BYTES = 1_024
/** Bodies with more bytes are sent in chunks of this many characters. */
const CHUNK_CHARACTERS = 131_072
/** After an encoded chunk with more bytes, the sender yields to other requests. */
const YIELD_AFTER_BYTES = 4_096
/** Pages are large and read once: the fastest level, and few chunks. */
const GZIP_OPTIONS = { level: 1, chunkSize: CHUNK_CHARACTERS }
/** A short body compresses to less than this in almost every case. */
const SHORT_GZIP_OPTIONS = { level: 1, chunkSize: 32_768 }

/** A JSON text in parts. Encoded parts are UTF-8, so that a long text is not copied. An empty array means no body. */
export type ResponseBody = readonly (string | Uint8Array)[]

/**
 * A response. `type`: the content type of a body that is not JSON. `isShared`: every client gets the same array of
 * bytes, so it is gzipped once, and there is only one copy of it. `release` is called when the body is sent.
 */
export type ApiResponse = {
  status: number
  body: ResponseBody
  headers: Headers
  type?: string
  isShared?: true
  release?: (() => void) | undefined
}

/** The state that all responses of a process share. */
export type ResponseContext = {
  readonly cors: Cors
  /** Response bytes that clients have not received yet. */
  unsentBytes: number
  /** Whether every response is the last of its connection. */
  isDraining: boolean
}

/** Whether the response must be the last one of its connection, because the server drains. */
export function isLastResponse(request: Pick<ApiRequest, 'raw'>): boolean {
  return connectionOf(request.raw.socket)?.isFinalResponse() ?? true
}

/** Sends a response, unless the client has disconnected. Resolves when the response is written to the connection. */
export async function sendResponse(
  context: ResponseContext,
  request: ApiRequest,
  reply: ApiReply,
  response: ApiResponse,
): Promise<void> {
  const { socket } = request.raw
  const { body } = response
  const headers = ['Request-Id', request.id, ...COMMON_HEADERS, ...corsHeaders(context.cors, request.headers.origin)]
  headers.push(...response.headers)
  if (body.length > 0) headers.push('Content-Type', response.type ?? 'application/json; charset=utf-8')
  let length = bodyLength(body)
  const isZipped = length > MIN_GZIP_BYTES && acceptsGzip(request.headers['accept-encoding'])
  if (isZipped) headers.push('Content-Encoding', 'gzip')
  const isLong = length > CHUNK_CHARACTERS
  const content = isLong ? null : isZipped ? await gzipBody(response) : joinBody(body)
  if (content instanceof Buffer) length = content.length
  if (body.length > 0 && !(isLong && isZipped)) headers.push('Content-Length', String(length))
  if (socket?.destroyed) return response.release?.()
  if (response.release !== undefined) request.accessRecord.onClose.push(response.release)
  if (!response.isShared) trackUnsentBytes(context, request, length)
  const isLast = context.isDraining && isLastResponse(request)
  if (content !== null && reply.sendWhole?.(response.status, headers, content, isLast)) return
  const { raw } = reply
  if (isLast) raw.shouldKeepAlive = false
  raw.writeHead(response.status, headers)
  if (content !== null || request.method === 'HEAD') raw.end(content)
  else await sendChunks(raw, body, isZipped)
}

function trackUnsentBytes(context: ResponseContext, { accessRecord }: ApiRequest, length: number): void {
  context.unsentBytes += length
  accessRecord.onClose.push(() => {
    context.unsentBytes -= length
  })
}

const gzippedBodies = new WeakMap<ResponseBody, Promise<Buffer>>()

/** Gzips a short body here: at most 0.4 ms, and a thread of zlib would take twice the processor time. */
function gzipBody({ body, isShared }: ApiResponse): Buffer | Promise<Buffer> {
  if (!isShared) return gzipSync(joinBody(body), SHORT_GZIP_OPTIONS)
  const zipped = gzippedBodies.get(body) ?? gzipBuffer(joinBody(body), GZIP_OPTIONS)
  gzippedBodies.set(body, zipped)
  return zipped
}

function bodyLength(body: ResponseBody): number {
  let length = 0
  for (const part of body) length += Buffer.byteLength(part)
  return length
}

/** A short body in one piece: a text if no part is encoded. */
function joinBody(body: ResponseBody): string | Buffer {
  const [first] = body
  if (body.length === 1 && first instanceof Buffer) return first
  if (body.every((part) => typeof part === 'string')) return body.join('')
  return Buffer.concat(body.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
}

/** Sends a long body as fast as the client reads it. A client that disconnects is not an error. */
async function sendChunks(raw: ServerResponse, body: ResponseBody, isZipped: boolean): Promise<void> {
  const source = Readable.from(responseChunks(body))
  const sending = isZipped ? pipeline(source, createGzip(GZIP_OPTIONS), raw) : pipeline(source, raw)
  await sending.catch(() => raw.destroy())
}

/** The chunks of a body. Between them, other requests run. No chunk ends within a character. */
async function* responseChunks(body: ResponseBody): AsyncGenerator<Uint8Array> {
  for (const part of body) {
    if (typeof part !== 'string') {
      yield part
      if (part.length > YIELD_AFTER_BYTES) await yieldToEventLoop()
      continue
    }
    for (let at = 0; at < part.length; ) {
      const last = part.charCodeAt(at + CHUNK_CHARACTERS - 1)
      const end = at + CHUNK_CHARACTERS - (last >= 0xd800 && last < 0xdc00 ? 1 : 0)
      yield Buffer.from(part.slice(at, end))
      at = end
      await yieldToEventLoop()
    }
  }
}

/** The response of an error in the envelope of its endpoint. */
export function errorResponse(error: ApiError, envelope: Envelope, headers: Headers = []): ApiResponse {
  const { status, retryAfter } = error
  const retry = retryAfter === null ? [] : ['Retry-After', String(retryAfter)]
  return { status, body: [error.body(envelope)], headers: [...headers, ...retry] }
}
