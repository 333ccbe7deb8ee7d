/**
 * The responses of the OpenAPI document: statuses, bodies, errors, headers and files, and the parameters of a query.
 */

import { NO_BEARER_MESSAGE } from '../auth/bearer.ts'
import type { Endpoint, EndpointName } from '../endpoints/endpoint.ts'
import { exactObject, type JsonSchema, Type } from '../endpoints/schema.ts'
import { ALL_ERRORS, type ErrorKey } from '../http/errors.ts'
import { rowSourceOf } from '../queries/formatted-response.ts'

const FILE_HEADERS = {
  ETag: { description: 'The strong entity tag of the file (RFC 9110).', schema: { type: 'string' } },
  'Last-Modified': { description: 'When the file was built.', schema: { type: 'string' } },
  'Content-Disposition': { description: 'The file name of the download.', schema: { type: 'string' } },
  'Content-Range': { description: 'The range of bytes, and the size of the file.', schema: { type: 'string' } },
  'Accept-Ranges': { description: '`bytes`: GET accepts `Range` and `If-Range`.', schema: { type: 'string' } },
  'Repr-Digest': { description: 'SHA-256 of the whole file (RFC 9530).', schema: { type: 'string' } },
} as const

/** The headers of a response with a file. */
const SENT_FILE_HEADERS = ['ETag', 'Last-Modified', 'Content-Disposition', 'Accept-Ranges', 'Repr-Digest'] as const

const GZIP_CONTENT = { 'application/gzip': { schema: { type: 'string', contentMediaType: 'application/gzip' } } }

type HeaderRefs = (...names: (keyof typeof FILE_HEADERS)[]) => Record<string, unknown>

/** The responses to a GET for a file with conditions or a range. */
export function partialFileResponses(headerRefs: HeaderRefs): Record<number, unknown> {
  return {
    206: {
      description: 'The range that `Range` requests.',
      headers: headerRefs(...SENT_FILE_HEADERS, 'Content-Range'),
      content: GZIP_CONTENT,
    },
    304: { description: 'The client already has this file.', headers: headerRefs('ETag', 'Last-Modified') },
    412: {
      description: 'The file does not match `If-Match`.',
      headers: headerRefs('ETag', 'Last-Modified'),
    },
    416: { description: 'The range is outside the file.', headers: headerRefs('ETag', 'Content-Range') },
  }
}

export function fileResponse(headerRefs: HeaderRefs): Record<string, unknown> {
  return { description: 'The file.', headers: headerRefs(...SENT_FILE_HEADERS), content: GZIP_CONTENT }
}

type JsonObject = Record<string, unknown>

/** The errors of every endpoint. */
const COMMON_ERRORS: readonly ErrorKey[] = [
  'token_missing',
  'token_invalid',
  'rate_limited',
  'body_too_large',
  'internal_error',
]

/** Where a request has its token: as a parameter under `/v1.0/`, in the header Authorization outside it. */
type TokenPlace = 'parameter' | 'header'

/** Every status with the schema of its body: success, and one entry for the errors that share a status. */
export function responsesOf(
  { name, response, example, file, envelope, errors }: Endpoint,
  tokenPlace: TokenPlace = 'header',
): Record<number, unknown> {
  const success = {
    description: file?.description ?? 'Success.',
    headers: headerRefs(
      'Request-Id',
      'RateLimit-Policy',
      'RateLimit',
      ...(file === null ? [] : SENT_FILE_HEADERS),
      ...observedAtHeader(name),
      ...(rowSourceOf(name) === null ? [] : (['Next-Cursor', 'Truncated-Types'] as const)),
    ),
    content: {
      ...(response && { 'application/json': { schema: response, ...(example !== undefined && { example }) } }),
      ...(rowSourceOf(name) !== null && ROW_CONTENT),
      ...(file && { [file.type]: { schema: { type: 'string', contentMediaType: file.type } } }),
    },
  }
  const keys = [...COMMON_ERRORS, ...errors]
  const statuses = [...new Set(keys.map((key) => ALL_ERRORS[key][0]))].sort()
  const failures = statuses.map((status) => [
    status,
    errorResponseObject(status, keys, envelope === 'result', tokenPlace),
  ])
  return { 200: success, ...Object.fromEntries(failures) }
}

export function errorResponseObject(
  status: number,
  keys: readonly ErrorKey[],
  isNested: boolean,
  tokenPlace: TokenPlace = 'header',
): JsonObject {
  const statusKeys = keys.filter((key) => ALL_ERRORS[key][0] === status)
  const error = errorSchema(status, statusKeys)
  const headers = headerRefs('Request-Id', ...(status === 429 || status === 500 ? (['Retry-After'] as const) : []))
  const schema = isNested ? exactObject({ result: error }) : error
  const description = statusKeys.map((key) => `\`${key}\`: ${messageOf(key, tokenPlace)}`).join(' ')
  return { description, headers, content: { 'application/json': { schema } } }
}

function messageOf(key: ErrorKey, tokenPlace: TokenPlace): string {
  return key === 'token_missing' && tokenPlace === 'header' ? NO_BEARER_MESSAGE : ALL_ERRORS[key][1]
}

function errorSchema(status: number, keys: readonly ErrorKey[]): JsonSchema {
  const usage = status === 429 ? { limit: Type.Integer(), used: Type.Integer() } : {}
  const field = keys.includes('value_invalid')
    ? { field: Type.Optional(Type.String({ description: 'The value that is wrong.' })) }
    : {}
  return exactObject({
    rcode: Type.Literal(status),
    error: Type.String({ enum: [...keys] }),
    msg: Type.String(),
    ...usage,
    ...field,
  })
}

/** The formats that a client asks for by Accept. */
const ROW_CONTENT = {
  'application/x-ndjson': {
    schema: Type.String({
      description: 'One row a line, then the line `{"end":true,"rows":N,"next":…}` with the cursor of the next page.',
    }),
  },
  'text/csv': { schema: Type.String({ description: 'A line with the columns, then the rows (RFC 4180).' }) },
}

/** Whether the response of an endpoint has the header Observed-At. */
const HAS_OBSERVED_AT: Record<EndpointName, boolean> = {
  lookup: true,
  redirect: true,
  reverseip: true,
  dnshistory: true,
  daily: false,
  snapshot: false,
  similar: false,
  domain: true,
  webhistory: true,
  redirecthistory: false,
  certificate: false,
  certificatehistory: true,
  namedcertificates: false,
  ip: false,
  search: false,
  registered: false,
  dropped: false,
  lookalikes: false,
  events: false,
  preview: false,
  pdns: false,
  uses: false,
}

function observedAtHeader(name: EndpointName): 'Observed-At'[] {
  return HAS_OBSERVED_AT[name] ? ['Observed-At'] : []
}

export const HEADERS = {
  ...FILE_HEADERS,
  'Request-Id': { description: 'The ID of this request in the log of the server.', schema: Type.String() },
  'RateLimit-Policy': {
    description: 'The daily limit (IETF draft httpapi-ratelimit-headers 10).',
    schema: Type.String(),
  },
  RateLimit: { description: 'Calls left, and seconds until the reset.', schema: Type.String() },
  'Retry-After': { description: 'Seconds to wait.', schema: Type.Integer() },
  'Observed-At': { description: 'When DNS and web of the domain were last observed.', schema: Type.String() },
  'Next-Cursor': {
    description: 'With CSV and passive DNS: the cursor of the next page, if there is one.',
    schema: Type.String(),
  },
  'Truncated-Types': { description: 'With CSV: the record types with older states.', schema: Type.String() },
}

export function headerRefs(...names: (keyof typeof HEADERS)[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** A parameter of the query string. */
export function queryParameter(
  name: string,
  parameterSchema: JsonSchema,
  required: readonly string[] = [],
): Record<string, unknown> {
  const { description, ...schema } = parameterSchema as JsonSchema & { description?: string }
  return { name, in: 'query', required: required.includes(name), description, schema }
}
