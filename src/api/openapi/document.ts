/** Builds the OpenAPI 3.1 document from the declarations of the endpoints. */

import type { Endpoint, EndpointName } from '../endpoints/endpoint.ts'
import { type JsonSchema, Type } from '../endpoints/json-schema.ts'
import { exactObject } from '../endpoints/schema.ts'
import { ERRORS, type ErrorKey } from '../errors.ts'
import { FILE_HEADERS, fileResponse, partialFileResponses, SENT_FILE_HEADERS } from './file-responses.ts'

/** The errors of every endpoint. */
const COMMON_ERRORS: readonly ErrorKey[] = [
  'token_missing',
  'token_invalid',
  'rate_limited',
  'body_too_large',
  'internal_error',
]

const TOKEN_SCHEMA = Type.String({ description: 'The API token.' })

type JsonObject = Record<string, unknown>

/** The document for a server with these endpoints under `/v1.0/`. */
export function openApiDocument(endpoints: readonly Endpoint[], version: string): JsonObject {
  const paths = endpoints.map((endpoint) => [`/v1.0/${endpoint.name}`, pathItem(endpoint)])
  return {
    openapi: '3.1.0',
    info: {
      title: 'domaindex',
      version,
      description: 'Crawled data about internet domains. Branch on `error`, never on `msg`: its wording may change.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This server' }],
    security: [],
    tags: [
      { name: 'queries', description: 'Data about domains.' },
      { name: 'files', description: 'Finished files by name.' },
      { name: 'account', description: 'The account of a token.' },
      { name: 'crawler', description: 'The crawler that visits domains.' },
      { name: 'health', description: 'The state of the server.' },
    ],
    paths: { ...Object.fromEntries(paths), ...OWN_PATHS },
    components: {
      securitySchemes: {
        query: { type: 'apiKey', in: 'query', name: 'token', description: 'On GET, the token is part of the URL.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'Outside `/v1.0/`.' },
      },
      headers: HEADERS,
    },
  }
}

function pathItem(endpoint: Endpoint): JsonObject {
  const { name, summary, description, parameters } = endpoint
  const shared = { summary, description, tags: ['queries'], responses: responsesOf(endpoint) }
  const body = Type.Object({ token: TOKEN_SCHEMA, ...parameters.properties })
  const query = Object.entries(parameters.properties).map(([key, schema]) =>
    queryParameter(key, schema, parameters.required),
  )
  return {
    post: {
      operationId: `${name}Post`,
      ...shared,
      description: `${description} The token is sent in the body.`,
      requestBody: { required: true, content: { 'application/json': { schema: body } } },
    },
    get: {
      operationId: `${name}Get`,
      ...shared,
      ...(endpoint.file && { responses: { ...shared.responses, ...partialFileResponses(headerRefs) } }),
      security: [{ query: [] }],
      parameters: query,
    },
  }
}

function queryParameter(name: string, parameterSchema: JsonSchema, required: readonly string[] = []): JsonObject {
  const { description, ...schema } = parameterSchema as JsonSchema & { description?: string }
  return { name, in: 'query', required: required.includes(name), description, schema }
}

/** Every status with the schema of its body: success, and one entry for the errors that share a status. */
function responsesOf({ name, response, file, envelope, errors }: Endpoint): JsonObject {
  const success = {
    description: file?.description ?? 'Success.',
    headers: headerRefs(
      'Request-Id',
      'RateLimit-Policy',
      'RateLimit',
      ...(file === null ? [] : SENT_FILE_HEADERS),
      ...observedAtHeader(name),
    ),
    content: {
      ...(response && { 'application/json': { schema: response } }),
      ...(file && { [file.type]: { schema: { type: 'string', contentMediaType: file.type } } }),
    },
  }
  const keys = [...COMMON_ERRORS, ...errors]
  const statuses = [...new Set(keys.map((key) => ERRORS[key][0]))].sort()
  const failures = statuses.map((status) => [status, errorResponseObject(status, keys, envelope === 'result')])
  return { 200: success, ...Object.fromEntries(failures) }
}

function errorResponseObject(status: number, keys: readonly ErrorKey[], isNested: boolean): JsonObject {
  const statusKeys = keys.filter((key) => ERRORS[key][0] === status)
  const error = errorSchema(status, statusKeys)
  const headers = headerRefs('Request-Id', ...(status === 429 || status === 500 ? (['Retry-After'] as const) : []))
  const schema = isNested ? exactObject({ result: error }) : error
  const description = statusKeys.map((key) => `\`${key}\`: ${ERRORS[key][1]}`).join(' ')
  return { description, headers, content: { 'application/json': { schema } } }
}

function errorSchema(status: number, keys: readonly ErrorKey[]): JsonSchema {
  const usage = status === 429 ? { limit: Type.Integer(), used: Type.Integer() } : {}
  return exactObject({
    rcode: Type.Literal(status),
    error: Type.String({ enum: [...keys] }),
    msg: Type.String(),
    ...usage,
  })
}

/** The endpoints whose response has the header Observed-At. */
const ENDPOINTS_WITH_OBSERVED_AT: readonly EndpointName[] = ['lookup', 'redirect', 'reverseip', 'dnshistory']

function observedAtHeader(name: EndpointName): 'Observed-At'[] {
  return ENDPOINTS_WITH_OBSERVED_AT.includes(name) ? ['Observed-At'] : []
}

const HEADERS = {
  ...FILE_HEADERS,
  'Request-Id': { description: 'The ID of this request in the log of the server.', schema: Type.String() },
  'RateLimit-Policy': {
    description: 'The daily limit (IETF draft httpapi-ratelimit-headers 10).',
    schema: Type.String(),
  },
  RateLimit: { description: 'Calls left, and seconds until the reset.', schema: Type.String() },
  'Retry-After': { description: 'Seconds to wait.', schema: Type.Integer() },
  'Observed-At': { description: 'When DNS and web of the domain were last observed.', schema: Type.String() },
}

function headerRefs(...names: (keyof typeof HEADERS)[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const Quota = exactObject({
  limit: Type.Union([Type.Integer(), Type.Null()], { description: 'Calls per day; null: no limit.' }),
  used: Type.Integer({ description: 'Calls charged today.' }),
  remaining: Type.Union([Type.Integer(), Type.Null()], { description: 'Calls left today; null: no limit.' }),
  reset: Type.String({ format: 'date-time', description: 'When the next day starts, UTC.' }),
})
/** What `/healthz` and `/readyz` report. */
export const HEALTH_STATES = ['ok', 'draining', 'waiting for the store'] as const
const Health = exactObject({ status: Type.String({ enum: HEALTH_STATES }) })

function simplePath(operationId: string, summary: string, tag: string, responses: JsonObject): JsonObject {
  return { get: { operationId, summary, tags: [tag], responses } }
}

function jsonResponse(description: string, schema: JsonSchema): JsonObject {
  return { description, content: { 'application/json': { schema } } }
}

const FILENAME = {
  name: 'filename',
  in: 'path',
  required: true,
  description: '`DATE.txt.gz`, `DATE-followup-7.csv.gz`, `DATE-followup-30.csv.gz`, or the `filename` of a snapshot.',
  schema: { type: 'string', examples: ['2026-11-19.txt.gz'] },
}
const FILE_ERRORS = ['plan_required', 'premium_required', 'addon_required', 'no_subscription'] as const
const DAY_ERRORS = ['before_subscription', 'after_subscription', 'outside_subscription'] as const

/** The paths outside `/v1.0/`. */
const OWN_PATHS = {
  '/files/{filename}': {
    get: {
      operationId: 'file',
      summary: 'A file by its name, with the same rights as /daily and /snapshot',
      description:
        'The whole file or ranges of it, with conditions. ' +
        'A file costs one call per day, even if it is downloaded several times.',
      tags: ['files'],
      security: [{ bearer: [] }],
      parameters: [FILENAME],
      responses: {
        200: fileResponse(headerRefs),
        ...partialFileResponses(headerRefs),
        401: errorResponseObject(401, ['token_missing', 'token_invalid'], false),
        403: errorResponseObject(403, [...FILE_ERRORS, ...DAY_ERRORS], false),
        404: errorResponseObject(404, ['no_data'], false),
        429: errorResponseObject(429, ['rate_limited'], false),
        500: errorResponseObject(500, ['internal_error'], false),
      },
    },
  },
  '/account/quota': {
    get: {
      operationId: 'quota',
      summary: 'The daily budget of the account; free',
      tags: ['account'],
      security: [{ bearer: [] }],
      responses: {
        200: jsonResponse('Success.', Quota),
        401: errorResponseObject(401, ['token_missing', 'token_invalid'], false),
      },
    },
  },
  '/crawler': simplePath('crawler', 'Explains the crawler to owners of sites', 'crawler', {
    200: { description: 'A page.', content: { 'text/html': { schema: Type.String() } } },
  }),
  '/healthz': simplePath('health', 'Whether the process runs', 'health', {
    200: jsonResponse('The process runs.', Health),
  }),
  '/readyz': simplePath('readiness', 'Whether the server is ready', 'health', {
    200: jsonResponse('The server is ready.', Health),
    503: jsonResponse('The server is not ready.', Health),
  }),
}
