/** Writes client/src/api-types.ts: the types of parameters, responses and errors, from the schemas of the endpoints. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { registered } from '../src/api/endpoints/day-names.ts'
import { RECORD_SCHEMAS } from '../src/api/endpoints/dnshistory.ts'
import { ENDPOINTS } from '../src/api/endpoints/endpoints.ts'
import { CharacteristicsSchema, KnownCharacteristicsSchema } from '../src/api/endpoints/lookup.ts'
import type { JsonSchema } from '../src/api/endpoints/schema.ts'
import { search } from '../src/api/endpoints/search/search.ts'
import { ERRORS } from '../src/api/http/errors.ts'
import { openApiDocument } from '../src/api/openapi/document.ts'

export const CLIENT_TYPES = new URL('../client/src/api-types.ts', import.meta.url)

/** The responses of paths outside `/v1.0/`, by the name of their type: the path, which of its forms, and the method. */
const OWN_RESPONSES: Readonly<Record<string, [path: string, form?: number | null, method?: 'post']>> = {
  DomainResponse: ['/domain/{name}', 0],
  DomainAsOfResponse: ['/domain/{name}', 1],
  WebhistoryResponse: ['/domain/{name}/web'],
  CertificatehistoryResponse: ['/domain/{name}/certificates'],
  NamedcertificatesResponse: ['/domain/{name}/named-certificates'],
  CertificateResponse: ['/certificate/{sha256}'],
  RedirecthistoryResponse: ['/domain/{name}/redirects'],
  IpResponse: ['/ip/{address}', 0],
  AddressTimesResponse: ['/ip/{address}', 1],
  SearchResponse: ['/search'],
  DayNamesResponse: ['/registered'],
  LookalikesResponse: ['/lookalikes'],
  WatchesResponse: ['/watches'],
  PreviewResponse: ['/watches/preview', null, 'post'],
  EventsResponse: ['/events'],
  FeedResponse: ['/feed'],
  DigestResponse: ['/digest'],
  WebhooksResponse: ['/webhooks'],
  DeliveriesResponse: ['/webhooks/{id}/deliveries'],
  WebhookTestResponse: ['/webhooks/{id}/test', null, 'post'],
  FilesResponse: ['/files'],
  QuotaResponse: ['/account/quota'],
}

/** The keywords of JSON Schema that decide about a type. */
type Schema = {
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  not?: object
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  description?: string
}

/** Schemas that have a type of their own, by reference. */
const NAMED = new Map<unknown, string>([
  [CharacteristicsSchema, 'Characteristics'],
  [KnownCharacteristicsSchema, 'KnownCharacteristics'],
  ...Object.entries(RECORD_SCHEMAS).map(([type, schema]): [JsonSchema, string] => [schema, `${type}Record`]),
])

/** The text of the module. */
export function clientTypes(): string {
  const { paths } = openApiDocument(ENDPOINTS, '') as {
    paths: Record<string, { get: Operation; post: Operation }>
  }
  const declarations = [
    `/** The values of \`error\`. */\nexport type ErrorKey = ${unionOf(Object.keys(ERRORS))}`,
    ...[...NAMED].map(([schema, name]) => `export type ${name} = ${typeOf(schema as Schema, true)}`),
    ...ENDPOINTS.flatMap(({ name, parameters, response }) => [
      declaration(`${capitalized(name)}Parameters`, parameters as Schema),
      ...(response === null ? [] : [declaration(`${capitalized(name)}Response`, response as Schema)]),
    ]),
    declaration('SearchParameters', search.parameters as Schema),
    declaration('DayNamesParameters', registered.parameters as Schema),
    ...Object.entries(OWN_RESPONSES).map(([name, [path, form = null, method = 'get' as const]]) => {
      const schema = responseSchema(paths[path]![method])
      return declaration(name, form === null ? schema : schema.anyOf![form]!)
    }),
  ]
  const head = '/** The types of parameters, responses and errors. scripts/client-types.ts generates them. */'
  return formatted(`${head}\n\n${declarations.join('\n\n')}\n`)
}

type Operation = { responses: { 200: { content: Record<string, { schema: Schema }> } } }

function responseSchema({ responses }: Operation): Schema {
  return responses[200].content['application/json']!.schema
}

const declaration = (name: string, schema: Schema) => `export type ${name} = ${typeOf(schema)}`
const capitalized = (name: string) => `${name[0]!.toUpperCase()}${name.slice(1)}`
const unionOf = (values: unknown[]) => values.map((value) => JSON.stringify(value)).join(' | ')

function typeOf(schema: Schema, isDeclared = false): string {
  const name = NAMED.get(schema)
  if (name !== undefined && !isDeclared) return name
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return unionOf(schema.enum)
  if (schema.not !== undefined) return 'never'
  if (schema.type === 'object') return objectType(schema)
  if (schema.type === 'array') return `(${typeOf(schema.items!)})[]`
  if (schema.type === 'integer') return 'number'
  if (schema.type !== undefined) return schema.type
  if (schema.anyOf !== undefined) return schema.anyOf.map((each) => typeOf(each)).join(' | ')
  throw new Error(`There is no type for the schema ${JSON.stringify(schema)}.`)
}

function objectType({ properties = {}, required = [] }: Schema): string {
  const lines = Object.entries(properties).map(([key, schema]) => {
    const comment = schema.description === undefined ? '' : `/** ${schema.description} */\n`
    return `${comment}${key}${required.includes(key) ? '' : '?'}: ${typeOf(schema)}`
  })
  return `{\n${lines.join('\n')}\n}`
}

function formatted(text: string): string {
  const biome = fileURLToPath(new URL('../node_modules/.bin/biome', import.meta.url))
  const how = { input: text, encoding: 'utf8', cwd: import.meta.dirname } as const
  const { stdout, stderr, status } = spawnSync(biome, ['format', '--stdin-file-path', fileURLToPath(CLIENT_TYPES)], how)
  if (status !== 0) throw new Error(`biome failed: ${stderr}`)
  return stdout
}

if (argv[1] === import.meta.filename) writeFileSync(CLIENT_TYPES, clientTypes())
