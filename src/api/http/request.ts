/** Reads requests: parameters from the query string or the body, path, and what the client accepts. */

import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { ApiError } from './errors.ts'
import type { ApiRequest } from './exchange.ts'
import type { Parameters } from './parameters.ts'

/** The maximum size of a body in bytes, unless its route has another one. */
const MAX_BODY_BYTES = 65_536
/** The maximum bytes of a larger body that are read before the response. A sending client does not read it. */
const MAX_DROPPED_BYTES = 16 * 2 ** 20
/** The value of a body that is too large. */
const TOO_LARGE = Symbol('a body that is too large')

const NOT_JSON_MESSAGE =
  'The body of the request is not a JSON object, so it contains no token: send an object with the key "token".'

/** The body parser for every Content-Type. It returns the body as text. */
export function parseBody(
  { routeOptions }: FastifyRequest,
  payload: IncomingMessage,
  done: (error: null, body: string | typeof TOO_LARGE) => void,
): void {
  const { maxBodyBytes = MAX_BODY_BYTES } = routeOptions.config
  const chunks: Buffer[] = []
  let length = 0
  payload.on('data', (chunk: Buffer) => {
    const before = length
    length += chunk.length
    if (length <= maxBodyBytes) chunks.push(chunk)
    else if (length > MAX_DROPPED_BYTES && before <= MAX_DROPPED_BYTES) done(null, TOO_LARGE)
  })
  payload.on('end', () => {
    if (length <= maxBodyBytes) done(null, (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString())
    else if (length <= MAX_DROPPED_BYTES) done(null, TOO_LARGE)
  })
}

/** The parameters of a query string. If one is repeated, the last one counts. */
export function parseQueryString(text: string): Parameters {
  return text === '' ? {} : Object.fromEntries(new URLSearchParams(text))
}

/** The parameters of a request. Throws `body_too_large`, and `token_missing` if the body is not a JSON object. */
export function readParameters(request: ApiRequest): Parameters {
  if (request.method !== 'POST') return request.query as Parameters
  const body = readJsonObject(request)
  if (body === null) throw new ApiError('token_missing', { msg: NOT_JSON_MESSAGE })
  return body
}

/** Whether the body of a request was longer than its route allows. */
export function isBodyTooLarge(body: unknown): boolean {
  return body === TOO_LARGE
}

/** The body of a request; null if it is not a JSON object. Throws `body_too_large`. */
export function readJsonObject({ body }: Pick<ApiRequest, 'body'>): Parameters | null {
  if (isBodyTooLarge(body)) throw new ApiError('body_too_large')
  const parsed = parseJson(body as string | undefined)
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as Parameters) : null
}

/** The body of a request. Throws `body_too_large`, and `value_invalid` if it is not a JSON object. */
export function readBody(request: Pick<ApiRequest, 'body'>): Parameters {
  const body = readJsonObject(request)
  if (body === null)
    throw new ApiError('value_invalid', { msg: 'The body must be a JSON object.', extra: { field: 'body' } })
  return body
}

/** The same, but an empty body has no parameters. */
export function readOptionalBody(request: Pick<ApiRequest, 'body'>): Parameters {
  return request.body === undefined || request.body === '' ? {} : readBody(request)
}

function parseJson(text = ''): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The path of a request for matching: without query string, repeated slashes and a trailing slash. */
export function normalizedPath(url: string): string {
  const [path = ''] = url.split('?', 1)
  return path.replace(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
}

/** Whether an Accept-Encoding accepts gzip (RFC 9110, section 12.5.3): by name or by `*`, with a weight above 0. */
export function acceptsGzip(header: string | undefined): boolean {
  return acceptsCoding(header, ['gzip', 'x-gzip']) ?? acceptsCoding(header, ['*']) ?? false
}

/** A content coding that the server sends. */
export type Coding = 'br' | 'gzip'

/** How a body that is compressed once is sent, brotli rather than gzip; null if the client accepts neither. */
export function bestCoding(header: string | undefined): Coding | null {
  if (acceptsCoding(header, ['br'])) return 'br'
  return acceptsGzip(header) ? 'gzip' : null
}

/** Whether the first of these codings that the header names has a weight above 0; null if it names none. */
function acceptsCoding(header = '', codings: readonly string[]): boolean | null {
  for (const item of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((part) => part.trim())
    if (!codings.includes(coding)) continue
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return weight === undefined || Number(weight.slice(2)) > 0
  }
  return null
}

/** The media type of lines of JSON. */
export const NDJSON_TYPE = 'application/x-ndjson'

/** The formats other than JSON that a client can ask for by Accept (RFC 9110, section 12.5.1). */
export type RowFormat = 'ndjson' | 'csv'

/** The media types by which a client names a format; `json` is the default. */
const MEDIA_TYPES: Readonly<Record<string, RowFormat | 'json'>> = {
  'application/json': 'json',
  [NDJSON_TYPE]: 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/csv': 'csv',
}

/**
 * The format that an Accept header names with the highest weight, the first of equal ones. Null means JSON: it is the
 * default, also for types that are unknown and for wildcards.
 */
export function requestedFormat(accept: string | undefined): RowFormat | null {
  if (accept === undefined || accept === 'application/json' || accept === '*/*') return null
  let best: { format: RowFormat | 'json'; weight: number } | null = null
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const format = MEDIA_TYPES[type]
    const weight = weightOf(parameters)
    if (format !== undefined && weight > (best?.weight ?? 0)) best = { format, weight }
  }
  return best === null || best.format === 'json' ? null : best.format
}

/** The weight of a media range from 0 to 1; 1 if there is none or it is no number. */
function weightOf(parameters: readonly string[]): number {
  const parameter = parameters.find((each) => each.startsWith('q='))
  const weight = parameter === undefined ? 1 : Number(parameter.slice(2))
  return Number.isNaN(weight) ? 1 : weight
}
