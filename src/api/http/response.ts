/** The wire, outward: sends an answer, its body gzipped for who takes that, a long one piece by piece. */

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gzip as gzipCallback } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { yieldToEventLoop } from '../../store/shared/event-loop.ts'
import type { ApiError, Envelope } from '../errors.ts'
import { connectionOf } from './connection.ts'
import { COMMON_HEADERS, type Cors, corsHeaders, type Headers } from './headers.ts'
import { acceptsGzip } from './request.ts'

const gzipBuffer = promisify(gzipCallback)

/** Bodies of more bytes are gzipped. */
const MIN_GZIP_BYTES = 1_024
/** Bodies of more bytes are sent in pieces of this many characters. */
const CHUNK_CHARACTERS = 131_072
/** After a ready piece of more bytes other requests have their turn. */
const YIELD_AFTER_BYTES = 4_096
/** Pages are big and read once: the quickest level, and few chunks. */
const GZIP_OPTIONS = { level: 1, chunkSize: CHUNK_CHARACTERS }

/** A JSON text in parts, the ready ones as UTF-8, so that a long one need not be copied; none at all where there is no body. */
export type ResponseBody = readonly (string | Uint8Array)[]

/**
 * What is to be sent. `type`: of a body that is not JSON. `isFixed`: the same array of bytes goes to every client, so it is
 * gzipped once, and no client holds a copy of its own.
 */
export type ApiResponse = { status: number; body: ResponseBody; headers: Headers; type?: string; isShared?: true }

/** What all answers of a process share. */
export type ResponseContext = {
  readonly cors: Cors
  /** Bytes of answers that clients have not taken yet. */
  unsentBytes: number
  /** Every answer is the last of its connection. */
  isDraining: boolean
}

/** Whether the answer to a request has to be the last one of its connection, because the server drains. */
export function isLastResponse(request: Pick<FastifyRequest, 'raw'>): boolean {
  return connectionOf(request.raw)?.isFinalResponse() ?? true
}

/** Sends an answer; to a client that is gone, nothing. Resolves when it is handed over to the connection. */
export async function sendResponse(
  context: ResponseContext,
  request: FastifyRequest,
  reply: FastifyReply,
  response: ApiResponse,
): Promise<void> {
  const { raw } = reply
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
  if (raw.destroyed) return
  if (!response.isShared) trackUnsentBytes(context, request, length)
  if (context.isDraining && isLastResponse(request)) raw.shouldKeepAlive = false
  raw.writeHead(response.status, headers)
  if (content !== null || request.method === 'HEAD') raw.end(content)
  else await sendChunks(raw, body, isZipped)
}

function trackUnsentBytes(context: ResponseContext, { accessRecord: visit }: FastifyRequest, length: number): void {
  context.unsentBytes += length
  visit.onClose.push(() => {
    context.unsentBytes -= length
  })
}

const gzippedBodies = new WeakMap<ResponseBody, Promise<Buffer>>()

function gzipBody({ body, isShared: isFixed }: ApiResponse): Promise<Buffer> {
  const zipped = gzippedBodies.get(body) ?? gzipBuffer(joinBody(body), GZIP_OPTIONS)
  if (isFixed) gzippedBodies.set(body, zipped)
  return zipped
}

function bodyLength(body: ResponseBody): number {
  let length = 0
  for (const part of body) length += Buffer.byteLength(part)
  return length
}

/** A short body in one: a text where it has no ready parts. */
function joinBody(body: ResponseBody): string | Buffer {
  const [first] = body
  if (body.length === 1 && first instanceof Buffer) return first
  if (body.every((part) => typeof part === 'string')) return body.join('')
  return Buffer.concat(body.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
}

/** Sends a long body as fast as the client takes it; one that goes away meanwhile is no fault. */
async function sendChunks(raw: FastifyReply['raw'], body: ResponseBody, isZipped: boolean): Promise<void> {
  const source = Readable.from(responseChunks(body))
  const sending = isZipped ? pipeline(source, createGzip(GZIP_OPTIONS), raw) : pipeline(source, raw)
  await sending.catch(() => raw.destroy())
}

/** Pieces between which other requests have their turn; none ends within a character. */
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

/** The error's answer in its endpoint's place. */
export function errorResponse(error: ApiError, envelope: Envelope, headers: Headers = []): ApiResponse {
  const { status, retryAfter } = error
  const retry = retryAfter === null ? [] : ['Retry-After', String(retryAfter)]
  return { status, body: [error.body(envelope)], headers: [...headers, ...retry] }
}
