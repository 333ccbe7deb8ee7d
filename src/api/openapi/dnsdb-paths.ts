/** The paths of the DNSDB API in the OpenAPI document. */

import { FLEXIBLE_KINDS, type FlexibleKind } from '../../search/pattern.ts'
import { enumString, exactObject, type JsonSchema, Type } from '../endpoints/schema.ts'
import { NDJSON_TYPE } from '../http/request.ts'
import { headerRefs, queryParameter } from './responses.ts'

type JsonObject = Record<string, unknown>

const SECURITY = [{ key: [] }, { bearer: [] }]
const TAGS = ['passive DNS']

/** The parameters of the query string of a lookup. */
const OPTIONS: Readonly<Record<string, JsonSchema>> = {
  limit: Type.Integer({ minimum: 0, description: 'The number of rows; 0: as many as the plan includes.' }),
  ...Object.fromEntries(
    ['time_first_before', 'time_first_after', 'time_last_before', 'time_last_after'].map((name) => [
      name,
      Type.Integer({ description: 'Unix seconds, or a negative number of seconds before now; exclusive.' }),
    ]),
  ),
  aggr: enumString(['t', 'f'], 'Whether equal rows of all times are one; `t` by default.'),
  humantime: enumString(['t', 'f'], 'Whether times are texts; `f` by default.'),
}
const OFFSET = Type.Integer({ minimum: 0, description: 'The number of rows to skip.' })
const MAX_COUNT = Type.Integer({ minimum: 1, description: 'The count that ends the summary.' })

const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  type: 'A record type, or `ANY`.',
  bailiwick: 'Only names that are this one or below it.',
}
const KINDS = {
  rrset: {
    by: ['name', 'raw'],
    value: 'A name, `*.NAME`, `LABELS.*`, or a name in wire form as hexadecimal digits.',
    lookup: 'The sets of records of names',
    further: ['', '/{type}', '/{type}/{bailiwick}'],
  },
  rdata: {
    by: ['name', 'ip', 'raw'],
    value: 'A host, `*.HOST`, `LABELS.*`, an address, `ADDRESS,PREFIX`, `FIRST-LAST`, or data as hexadecimal digits.',
    lookup: 'The names that had records with this data',
    further: ['', '/{type}'],
  },
} as const
const VERBS = ['lookup', 'summarize'] as const

function pathParameter(name: string, schema: JsonSchema): JsonObject {
  return { ...queryParameter(name, schema, [name]), in: 'path' }
}

/** A response with a line of text. */
function textResponseObject(description: string): JsonObject {
  const text = Type.String({ description: 'A line that starts with `Error: `.' })
  return { description, headers: headerRefs('Request-Id'), content: { 'text/plain': { schema: text } } }
}

const ERROR_RESPONSES = {
  400: textResponseObject('A value in the path or in the query string is wrong.'),
  401: textResponseObject('The token is missing or invalid.'),
  403: textResponseObject('The plan does not include names.'),
  416: textResponseObject('The offset is too large.'),
  429: textResponseObject('The daily limit is reached.'),
  500: textResponseObject('The server failed.'),
  503: textResponseObject('An overload, or the index of records is being built.'),
}

const LINES = Type.String({
  description: 'A line `{"cond":"begin"}`, lines with `obj`, and a line whose `cond` says how the stream ended.',
})

/** The operation of a path that answers lines. `names`: the parameters of the path after those of `path`. */
function linesPathItem(
  id: readonly string[],
  summary: string,
  path: readonly JsonObject[],
  names: readonly string[],
  options: Readonly<Record<string, JsonSchema>>,
): JsonObject {
  return {
    get: {
      operationId: ['dnsdb', ...id, ...names].join('-'),
      summary,
      tags: TAGS,
      security: SECURITY,
      parameters: [
        ...path,
        ...names.map((name) => pathParameter(name, Type.String({ description: PATH_PARAMETERS[name] }))),
        ...Object.entries(options).map(([name, schema]) => queryParameter(name, schema)),
      ],
      responses: {
        200: {
          description: 'A stream of lines.',
          headers: headerRefs('Request-Id', 'RateLimit-Policy', 'RateLimit'),
          content: { [NDJSON_TYPE]: { schema: LINES } },
        },
        ...ERROR_RESPONSES,
      },
    },
  }
}

function lookupPathItem(verb: (typeof VERBS)[number], kind: keyof typeof KINDS, further: string): JsonObject {
  const { by, value, lookup } = KINDS[kind]
  const isLookup = verb === 'lookup'
  const names = [...further.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const path = [
    pathParameter('by', enumString(by, 'How the value is read.')),
    pathParameter('value', Type.String({ description: value })),
  ]
  const summary = isLookup ? lookup : `${lookup}: how many, from when to when`
  const more = isLookup ? { offset: OFFSET } : { max_count: MAX_COUNT }
  return linesPathItem([verb, kind], summary, path, names, { ...OPTIONS, ...more })
}

const FLEXIBLE_VALUES: Readonly<Record<FlexibleKind, string>> = {
  glob: 'A pattern with `*`, `?` and `[a-z]` for whole names, which end in a dot: `*.example.com.`, `*bank*`.',
  regex: 'A regular expression of RE2 for a part of a name with its last dot: `bank[0-9]+\\.com\\.$`.',
}
const FLEXIBLE_OPTIONS = {
  exclude: Type.String({ description: 'A pattern or an expression, as the value: names that match are left out.' }),
  verbose: enumString(['t', 'f'], 'Whether rows have `count`, `time_first` and `time_last`; `t` by default.'),
}

function flexiblePathItem(kind: FlexibleKind, names: readonly string[]): JsonObject {
  const { aggr: _, ...options } = OPTIONS
  const path = [pathParameter('value', Type.String({ description: FLEXIBLE_VALUES[kind] }))]
  const summary = 'The names that match, with each type of their records'
  return linesPathItem([kind, 'rrnames'], summary, path, names, { ...options, offset: OFFSET, ...FLEXIBLE_OPTIONS })
}

const RateNumber = Type.Union([Type.Integer(), enumString(['unlimited', 'n/a'], 'For an account without a limit.')])
const Rate = exactObject({
  rate: exactObject({
    limit: RateNumber,
    remaining: RateNumber,
    reset: RateNumber,
    results_max: Type.Integer({ description: 'The highest `limit`.' }),
    offset_max: Type.Integer({ description: 'The highest `offset`.' }),
  }),
})
const Ping = exactObject({ ping: Type.Literal('ok') })

function jsonOperation(operationId: string, summary: string, schema: JsonSchema, security: JsonObject[]): JsonObject {
  const responses = {
    200: { description: 'Success.', content: { 'application/json': { schema } } },
    ...(security.length > 0 && { 401: ERROR_RESPONSES[401] }),
    500: ERROR_RESPONSES[500],
  }
  return { get: { operationId, summary, tags: TAGS, security, responses } }
}

export const DNSDB_PATHS: JsonObject = {
  ...Object.fromEntries(
    VERBS.flatMap((verb) =>
      (['rrset', 'rdata'] as const).flatMap((kind) =>
        KINDS[kind].further.map((further) => [
          `/dnsdb/v2/${verb}/${kind}/{by}/{value}${further}`,
          lookupPathItem(verb, kind, further),
        ]),
      ),
    ),
  ),
  ...Object.fromEntries(
    FLEXIBLE_KINDS.flatMap((kind) => [
      [`/dnsdb/v2/${kind}/rrnames/{value}`, flexiblePathItem(kind, [])],
      [`/dnsdb/v2/${kind}/rrnames/{value}/{type}`, flexiblePathItem(kind, ['type'])],
    ]),
  ),
  '/dnsdb/v2/rate_limit': jsonOperation('dnsdb-rate-limit', 'The daily budget of the account; free', Rate, SECURITY),
  '/dnsdb/v2/ping': jsonOperation('dnsdb-ping', 'Whether the server answers; free, without a token', Ping, []),
}
