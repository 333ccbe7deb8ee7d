/** The parts of the OpenAPI document that the reference shows. */

export type Schema = {
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  format?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  examples?: unknown[]
  default?: unknown
  additionalProperties?: boolean | Schema
}

export type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Schema }

type Media = { schema?: Schema; example?: unknown }

export type ResponseObject = { description: string; content?: Record<string, Media> }

export type Operation = {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  security?: Record<string, unknown>[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, ResponseObject>
}

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

export type OpenApiDocument = {
  info: { title: string; version: string; description: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Partial<Record<Method, Operation>>>
}

/** An endpoint that the reference shows once, with all methods of its path. */
export type ReferenceEntry = {
  /** The ID of its heading. */
  id: string
  path: string
  methods: Method[]
  operation: Operation
  parameters: Parameter[]
}

const METHODS: readonly Method[] = ['post', 'get', 'put', 'patch', 'delete']
const VERSION_PREFIX = '/v1.0/'

/** One entry for a path whose GET and POST do the same; one for each operation of the other paths. */
export function entriesOf({ paths }: OpenApiDocument): ReferenceEntry[] {
  return Object.entries(paths).flatMap(([path, item]) => {
    const methods = METHODS.filter((method) => item[method] !== undefined)
    if (path.startsWith(VERSION_PREFIX)) return [entryOf(path, methods, item[methods[0]!]!, item.get ?? null)]
    return methods.map((method) => entryOf(path, [method], item[method]!, null))
  })
}

function entryOf(path: string, methods: Method[], operation: Operation, get: Operation | null): ReferenceEntry {
  const id = path.startsWith(VERSION_PREFIX) ? path.slice(VERSION_PREFIX.length) : operation.operationId
  const parameters = get?.parameters ?? [...(operation.parameters ?? []), ...bodyParameters(operation)]
  return { id, path, methods, operation, parameters }
}

function bodyParameters({ requestBody }: Operation): Parameter[] {
  const schema = Object.values(requestBody?.content ?? {})[0]?.schema
  return Object.entries(schema?.properties ?? {}).map(([name, { description, ...rest }]) => ({
    name,
    in: 'body',
    required: schema?.required?.includes(name) ?? false,
    ...(description !== undefined && { description }),
    schema: rest,
  }))
}

/** The type of a schema in a few words, such as `array of object` or `string or null`. */
export function typeText(schema: Schema): string {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return [...new Set(choices.map(typeText))].join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'array') return `array of ${typeText(schema.items ?? {})}`
  const types = [schema.type ?? 'any'].flat().join(' or ')
  return schema.format === undefined ? types : `${types} (${schema.format})`
}

/** The object inside a schema: itself, the items of an array, or the part of a choice that is an object. */
export function objectOf(schema: Schema): Schema | null {
  if (schema.properties !== undefined) return schema
  if (schema.items !== undefined) return objectOf(schema.items)
  for (const choice of schema.anyOf ?? schema.oneOf ?? []) {
    const found = objectOf(choice)
    if (found !== null) return found
  }
  return null
}
