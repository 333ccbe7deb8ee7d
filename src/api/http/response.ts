/** Sends responses and errors: compresses the body if the client accepts that, and sends a long one in batches. */

import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { brotliCompress, constants, createGzip, gzip, gzipSync } from 'node:zlib'
import type { Logger } from 'pino'
import { FileStoreFault } from '../../jobs/file-store/build-fault.ts'
import { userMessageOf } from '../../store/engines.ts'
import { StoreFault } from '../../store/port/fault.ts'
import { connectionOf } from './connection.ts'
import type { ResponseBatch } from './direct/response-batch.ts'
import { ApiError, type Envelope, overloadedError } from './errors.ts'
import type { ApiReply, ApiRequest } from './exchange.ts'
import { CACHED_HEADERS, COMMON_HEADERS, type Cors, corsHeaders, type Headers } from './headers.ts'
import { acceptsGzip, bestCoding, type Coding } from './request.ts'
import { bodyLength, chunksOf, endWithParts, joinIfShort, type ResponseBody, sendInBatches } from './write-parts.ts'

const gzipBuffer = promisify(gzip)
const brotliBuffer = promisify(brotliCompress)

/** Bodies with more bytes are compressed. */
const MIN_COMPRESSED_BYTES = 1_024
/** Bodies with more bytes are sent as fast as the client reads them. */
const MAX_SHORT_BYTES = 131_072
/** Pages are large and read once: the fastest level, and few chunks. */
const GZIP_OPTIONS = { level: 1, chunkSize: 131_072 }
/** A short body compresses to less than this in almost every case. */
const SHORT_GZIP_OPTIONS = { level: 1, chunkSize: 32_768 }
/** Shared bodies are compressed once. The next level of brotli takes twelve times as long. */
const SHARED_GZIP_OPTIONS = { level: 9 }
const SHARED_BROTLI_OPTIONS = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

/**
 * A response. `type`: the content type of a body that is not JSON. `isShared`: every client gets the same array of
 * bytes, so it is compressed once, and there is only one copy of it. `isCached`: the client may keep it, and asks with
 * its ETag whether it changed. `release` is called when the body is sent.
 */
export type ApiResponse = {
  status: number
  body: ResponseBody
  headers: Headers
  type?: string | undefined
  isShared?: true
  isCached?: true
  release?: (() => void) | undefined
}

export function jsonResponse(status: number, body: object): ApiResponse {
  return { status, body: [JSON.stringify(body)], headers: [] }
}

export const NO_CONTENT: ApiResponse = { status: 204, body: [], headers: [] }

/** The state that all responses of a process share. */
export type ResponseContext = {
  readonly cors: Cors
  /** Responses that are ready, and hold the slots of their calls until they are written. */
  readonly batch: ResponseBatch
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
  const body = joinIfShort(response.body)
  const common = response.isCached ? CACHED_HEADERS : COMMON_HEADERS
  const headers = ['Request-Id', request.id, ...common, ...crossOriginHeaders(context, request)]
  headers.push(...response.headers)
  if (body.length > 0) headers.push('Content-Type', response.type ?? 'application/json; charset=utf-8')
  let length = bodyLength(body)
  const encoding = length > MIN_COMPRESSED_BYTES ? encodingOf(response, request.headers['accept-encoding']) : null
  if (encoding !== null) headers.push('Content-Encoding', encoding)
  const isLong = length > MAX_SHORT_BYTES && !(response.isShared && encoding !== null)
  const compressed = encoding !== null && !isLong ? await compressBody(body, encoding, response.isShared) : null
  if (compressed !== null) length = compressed.length
  if (body.length > 0 && !(isLong && encoding !== null)) headers.push('Content-Length', String(length))
  if (socket?.destroyed) return response.release?.()
  if (response.release !== undefined) request.accessRecord.onClose.push(response.release)
  if (!response.isShared) trackUnsentBytes(context, request, length)
  const isLast = context.isDraining && isLastResponse(request)
  const parts = compressed === null ? body : [compressed]
  if (!isLong && reply.sendWhole?.(response.status, headers, parts, isLast)) return
  const { raw } = reply
  if (isLast) raw.shouldKeepAlive = false
  raw.writeHead(response.status, headers)
  if (request.method === 'HEAD') raw.end()
  else if (!isLong) endWithParts(raw, parts)
  else if (encoding !== null) await sendZipped(raw, body)
  else await sendInBatches(raw, body)
}

/** The headers that let pages of other origins read the response, where that is allowed. */
export function crossOriginHeaders({ cors }: Pick<ResponseContext, 'cors'>, request: ApiRequest): Headers {
  return corsHeaders(request.routeOptions?.config.isSameOrigin ? [] : cors, request.headers.origin)
}

function trackUnsentBytes(context: ResponseContext, { accessRecord }: ApiRequest, length: number): void {
  context.unsentBytes += length
  accessRecord.onClose.push(() => {
    context.unsentBytes -= length
  })
}

/** How a body is compressed; null if the client accepts none. Only shared bodies are worth the time of brotli. */
function encodingOf({ isShared }: ApiResponse, accepted: string | undefined): Coding | null {
  if (isShared) return bestCoding(accepted)
  return acceptsGzip(accepted) ? 'gzip' : null
}

/** Compresses a body that is not long. One of a single client: here, at most 0.4 ms; a thread would take twice that. */
function compressBody(body: ResponseBody, encoding: Coding, isShared = false): Buffer | Promise<Buffer> {
  return isShared ? compressOnce(body, encoding) : gzipSync(joinBody(body), SHORT_GZIP_OPTIONS)
}

const compressedBodies = {
  br: new WeakMap<ResponseBody, Promise<Buffer>>(),
  gzip: new WeakMap<ResponseBody, Promise<Buffer>>(),
}

function compressOnce(body: ResponseBody, encoding: Coding): Promise<Buffer> {
  const known = compressedBodies[encoding]
  const compressed =
    known.get(body) ??
    (encoding === 'br'
      ? brotliBuffer(joinBody(body), SHARED_BROTLI_OPTIONS)
      : gzipBuffer(joinBody(body), SHARED_GZIP_OPTIONS))
  known.set(body, compressed)
  compressed.catch(() => known.delete(body))
  return compressed
}

/** A short body in one piece: a text if no part is encoded. */
function joinBody(body: ResponseBody): string | Buffer {
  const [first] = body
  if (body.length === 1 && first instanceof Buffer) return first
  if (body.every((part) => typeof part === 'string')) return body.join('')
  return Buffer.concat(body.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
}

/** Gzips a long body in the threads of zlib as fast as the client reads it. */
async function sendZipped(raw: ServerResponse, body: ResponseBody): Promise<void> {
  await pipeline(Readable.from(chunksOf(body)), createGzip(GZIP_OPTIONS), raw).catch(() => raw.destroy())
}

/** WWW-Authenticate for a missing or invalid token outside /v1.0/, where the token is a header. */
export function bearerChallenge({ accessRecord }: ApiRequest, { key }: ApiError): Headers {
  const isAboutToken = key === 'token_missing' || key === 'token_invalid'
  const path = accessRecord.path ?? ''
  if (!isAboutToken || path.startsWith('/v1.0/')) return []
  return ['WWW-Authenticate', path.startsWith('/pdns/') ? 'Basic realm="domaindex", Bearer' : 'Bearer']
}

/** The response of an error in the envelope of its endpoint. */
export function errorResponse(error: ApiError, envelope: Envelope, headers: Headers = []): ApiResponse {
  const { status, retryAfter } = error
  const retry = retryAfter === null ? [] : ['Retry-After', String(retryAfter)]
  return { status, body: [error.body(envelope)], headers: [...headers, ...retry] }
}

/** Sends the response of a handler outside /v1.0/, or that of the error that it throws. */
export async function respond(
  context: FaultContext & { responses: ResponseContext },
  request: ApiRequest,
  reply: ApiReply,
  answer: () => ApiResponse | Promise<ApiResponse>,
): Promise<void> {
  const { responses } = context
  try {
    await sendResponse(responses, request, reply, await answer())
  } catch (thrown) {
    const error = toApiError(context, request.id, thrown)
    await sendResponse(responses, request, reply, errorResponse(error, 'top', bearerChallenge(request, error)))
  }
}

const STORE_UNAVAILABLE_MESSAGE = 'The store of this service does not respond: try again.'
const FILES_UNAVAILABLE_MESSAGE = 'The files of this service are not available at the moment: try again.'

/** Where an internal error is logged. */
type FaultContext = { log: Pick<Logger, 'error'> }

/** The API error for a thrown value. An internal error is logged completely, and the client gets no details. */
export function toApiError({ log }: FaultContext, id: string, thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  log.error({ request: id, err: thrown }, 'internal error')
  if (thrown instanceof FileStoreFault) return overloadedError(FILES_UNAVAILABLE_MESSAGE)
  const isStoreFault = thrown instanceof StoreFault || userMessageOf(thrown) !== null
  return isStoreFault ? overloadedError(STORE_UNAVAILABLE_MESSAGE) : new ApiError('internal_error')
}
