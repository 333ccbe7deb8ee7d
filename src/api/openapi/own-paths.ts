/** The paths of the OpenAPI document outside `/v1.0/`. */

import { FILE_KINDS } from '../../jobs/file-store/file-store.ts'
import { HEALTH_STATES } from '../context/context.ts'
import { dropped, registered } from '../endpoints/day-names.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { BATCH_ENDPOINTS } from '../endpoints/endpoints.ts'
import { pdns } from '../endpoints/pdns.ts'
import { certificate } from '../endpoints/profiles/certificate.ts'
import { certificatehistory } from '../endpoints/profiles/certificatehistory.ts'
import { domain } from '../endpoints/profiles/domain.ts'
import { ip } from '../endpoints/profiles/ip.ts'
import { namedcertificates } from '../endpoints/profiles/namedcertificates.ts'
import { redirecthistory } from '../endpoints/profiles/redirecthistory.ts'
import { webhistory } from '../endpoints/profiles/webhistory.ts'
import { redirect } from '../endpoints/redirect.ts'
import { exactObject, type JsonSchema, Type, UtcInstantSchema } from '../endpoints/schema.ts'
import { lookalikes } from '../endpoints/search/lookalikes.ts'
import { search } from '../endpoints/search/search.ts'
import { NDJSON_TYPE } from '../http/request.ts'
import {
  errorResponseObject,
  fileResponse,
  headerRefs,
  partialFileResponses,
  queryParameter,
  responsesOf,
} from './responses.ts'

type JsonObject = Record<string, unknown>

/** The endpoints of which /batch takes calls, as a list in prose. */
const BATCH_NAMES = new Intl.ListFormat('en-GB').format([...BATCH_ENDPOINTS.keys()].map((name) => `\`${name}\``))

const BATCH_EXAMPLE = '{"endpoint":"lookup","query":"example.com"}'
const BatchAnswer = exactObject({
  status: Type.Integer({ description: 'The status of the call.' }),
  body: Type.Object({}, { description: 'The body of its endpoint, unchanged.' }),
})

function batchPathItem(): JsonObject {
  const lines = 'One JSON object a line: `endpoint`, and the parameters of that endpoint without `token`.'
  return {
    post: {
      operationId: 'batch',
      summary: 'Up to 1,000 calls in one request',
      description:
        `The endpoints that send no files: ${BATCH_NAMES}. The ` +
        'answers come as lines in the order of the calls, as they are ready. Each is checked and charged as a call.',
      tags: ['queries'],
      security: [{ bearer: [] }],
      requestBody: {
        required: true,
        content: { [NDJSON_TYPE]: { schema: Type.String({ description: lines, examples: [BATCH_EXAMPLE] }) } },
      },
      responses: {
        200: {
          description: 'A line for each call.',
          headers: headerRefs('Request-Id', 'RateLimit-Policy', 'RateLimit'),
          content: { [NDJSON_TYPE]: { schema: Type.String({ contentSchema: BatchAnswer }) } },
        },
        400: errorResponseObject(400, ['batch_invalid'], false),
        401: errorResponseObject(401, ['token_missing', 'token_invalid'], false),
        413: errorResponseObject(413, ['body_too_large'], false),
        500: errorResponseObject(500, ['internal_error'], false),
      },
    },
  }
}

function passiveDnsPathItem(): JsonObject {
  const { summary, description, parameters } = pdns
  const { 200: success, 413: _noBody, ...failures } = responsesOf(pdns)
  const lines = Type.String({ description: 'One JSON object a line: rrname, rrtype, rdata, time_first, time_last.' })
  const options = { limit: redirect.parameters.properties.limit!, next: redirect.parameters.properties.next! }
  return {
    get: {
      operationId: 'pdns',
      summary,
      description,
      tags: ['queries'],
      security: [{ basic: [] }, { bearer: [] }],
      parameters: [
        { ...queryParameter('query', parameters.properties.query!, ['query']), in: 'path' },
        ...Object.entries(options).map(([name, schema]) => queryParameter(name, schema)),
      ],
      responses: {
        200: {
          ...(success as JsonObject),
          headers: headerRefs('Request-Id', 'RateLimit-Policy', 'RateLimit', 'Next-Cursor', 'Truncated-Types'),
          content: { [NDJSON_TYPE]: { schema: lines } },
        },
        ...failures,
      },
    },
  }
}

const Quota = exactObject({
  limit: Type.Union([Type.Integer(), Type.Null()], { description: 'Calls per day; null: no limit.' }),
  used: Type.Integer({ description: 'Calls charged today.' }),
  remaining: Type.Union([Type.Integer(), Type.Null()], { description: 'Calls left today; null: no limit.' }),
  reset: Type.String({ format: 'date-time', description: 'When the next day starts, UTC.' }),
})
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
  description:
    '`DATE.txt.gz`, `DATE-dropped.txt.gz`, `DATE-followup-7.csv.gz`, `DATE-followup-30.csv.gz`, or the `filename` of a snapshot.',
  schema: { type: 'string', examples: ['2026-11-19.txt.gz'] },
}
const NEXT_FILE = {
  description: 'The `next` of the previous page: the name of its last file.',
  schema: { type: 'string', examples: ['2026-11-19.txt.gz'] },
}
const FileIndex = exactObject({
  files: Type.Array(
    exactObject({
      name: Type.String(),
      kind: Type.String({ enum: [...FILE_KINDS] }),
      date: Type.String({ format: 'date' }),
      rows: Type.Integer({ description: 'Lines, without a header.' }),
      bytes: Type.Integer({ description: 'The size of the download.' }),
      etag: Type.String({ description: 'The entity tag of the download.' }),
      last_modified: UtcInstantSchema,
    }),
  ),
  next: Type.Union([Type.String(), Type.Null()], { description: 'Null on the last page.' }),
})
const FILE_ERRORS = ['plan_required', 'premium_required', 'addon_required', 'no_subscription'] as const
const DAY_ERRORS = ['before_subscription', 'after_subscription', 'outside_subscription'] as const

const BEARER_OR_SESSION = [{ bearer: [] }, { session: [], csrf: [] }]

const PREFIX_LENGTH = {
  name: 'length',
  in: 'path',
  required: true,
  description: 'The prefix length of the network.',
  schema: Type.Integer({ minimum: 0, maximum: 128, examples: [24] }),
}

/** The path of a profile. Its first parameter is in the path; `further` follow it there. */
function profilePathItem(endpoint: Endpoint, operationId: string, further: JsonObject[] = []): JsonObject {
  const [inPath, ...options] = queryParametersOf(endpoint)
  return sessionPathItem(endpoint, operationId, [{ ...inPath, in: 'path' }, ...further, ...options])
}

function queryParametersOf({ parameters }: Endpoint): JsonObject[] {
  return Object.entries(parameters.properties).map(([key, schema]) => queryParameter(key, schema, parameters.required))
}

/** The path of an endpoint that takes a token in its header, or a session. */
function sessionPathItem(endpoint: Endpoint, operationId: string, parameters: JsonObject[]): JsonObject {
  const { summary, description } = endpoint
  const { 413: _noBody, ...responses } = responsesOf(endpoint)
  return {
    get: {
      operationId,
      summary,
      description,
      tags: ['profiles'],
      security: BEARER_OR_SESSION,
      parameters,
      responses,
    },
  }
}

/** The paths outside `/v1.0/`. */
export const OWN_PATHS = {
  '/domain/{name}': profilePathItem(domain, 'domain'),
  '/domain/{name}/web': profilePathItem(webhistory, 'webhistory'),
  '/domain/{name}/redirects': profilePathItem(redirecthistory, 'redirecthistory'),
  '/domain/{name}/certificates': profilePathItem(certificatehistory, 'certificatehistory'),
  '/domain/{name}/named-certificates': profilePathItem(namedcertificates, 'namedcertificates'),
  '/certificate/{sha256}': profilePathItem(certificate, 'certificate'),
  '/ip/{address}': profilePathItem(ip, 'ip'),
  '/ip/{address}/{length}': profilePathItem(ip, 'network', [PREFIX_LENGTH]),
  '/search': sessionPathItem(search, 'search', queryParametersOf(search)),
  '/registered': sessionPathItem(registered, 'registered', queryParametersOf(registered)),
  '/dropped': sessionPathItem(dropped, 'dropped', queryParametersOf(dropped)),
  '/lookalikes': sessionPathItem(lookalikes, 'lookalikes', queryParametersOf(lookalikes)),
  '/batch': batchPathItem(),
  '/pdns/query/{query}': passiveDnsPathItem(),
  '/files': {
    get: {
      operationId: 'files',
      summary: 'The files that the account may fetch; free',
      description: 'Sorted by date, then by kind. A new file appears within seconds.',
      tags: ['files'],
      security: BEARER_OR_SESSION,
      parameters: [
        { ...NEXT_FILE, name: 'next', in: 'query', required: false },
        {
          name: 'limit',
          in: 'query',
          required: false,
          description: 'Files per page, at most 1,000.',
          schema: { type: 'integer', minimum: 1, default: 1000 },
        },
      ],
      responses: {
        200: jsonResponse('Success.', FileIndex),
        400: errorResponseObject(400, ['cursor_invalid'], false),
        401: errorResponseObject(401, ['token_missing', 'token_invalid', 'session_missing'], false),
        403: errorResponseObject(403, ['origin_refused'], false),
        500: errorResponseObject(500, ['internal_error'], false),
      },
    },
  },
  '/files/{filename}': {
    get: {
      operationId: 'file',
      summary: 'A file by its name, with the same rights as /daily and /snapshot',
      description:
        'The whole file or ranges of it, with conditions. ' +
        'A file costs one call per day, even if it is downloaded several times.',
      tags: ['files'],
      security: BEARER_OR_SESSION,
      parameters: [FILENAME],
      responses: {
        200: fileResponse(headerRefs),
        ...partialFileResponses(headerRefs),
        401: errorResponseObject(401, ['token_missing', 'token_invalid', 'session_missing'], false),
        403: errorResponseObject(403, [...FILE_ERRORS, ...DAY_ERRORS, 'origin_refused'], false),
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
