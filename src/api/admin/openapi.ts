/** Builds the OpenAPI 3.1 document of the operator's API from the declarations of its paths. */

import { SESSION_COOKIE } from '../auth/session-authenticator.ts'
import { type JsonSchema, type ObjectSchema, Type } from '../endpoints/schema.ts'
import { ALL_ERRORS, type ErrorKey } from '../http/errors.ts'
import type { OperatorRoute } from './route.ts'

type JsonObject = Record<string, unknown>

const COMMON_ERRORS: readonly ErrorKey[] = ['token_invalid', 'session_missing', 'operator_required', 'internal_error']

export function operatorDocument(routes: readonly OperatorRoute[], version: string): JsonObject {
  const paths = Map.groupBy(routes, ({ path }) => path.replaceAll(/:(\w+)/g, '{$1}'))
  return {
    openapi: '3.1.0',
    info: {
      title: 'domaindex for operators',
      version,
      description:
        'Accounts, tokens, periods, add-ons, usage and the audit log, for programs that sell access. ' +
        'An operator creates a token with `domaindex operator token create NAME`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This server' }],
    security: [{ operator: [] }, { session: [], csrf: [] }],
    paths: Object.fromEntries([...paths].map(([path, of]) => [path, pathItem(of)])),
    components: {
      securitySchemes: {
        operator: { type: 'http', scheme: 'bearer', description: 'The token of an operator, `dxo_…`.' },
        session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: 'Of an account of role `admin`.' },
        csrf: { type: 'apiKey', in: 'header', name: 'X-CSRF-Token', description: 'For changes.' },
      },
    },
  }
}

function pathItem(routes: readonly OperatorRoute[]): JsonObject {
  return Object.fromEntries(routes.map((route) => [route.method.toLowerCase(), operation(route)]))
}

function operation(route: OperatorRoute): JsonObject {
  const { method, path, operationId, summary, body, query } = route
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => parameter(name!, 'path', Type.String(), true))
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) =>
    parameter(name, 'query', schema, query?.required?.includes(name) ?? false),
  )
  const parameters = [...inPath, ...inQuery, ...(method === 'POST' ? [IDEMPOTENCY_KEY] : [])]
  return {
    operationId,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: closed(body) } } } }),
    responses: responses(route),
  }
}

/** Unknown keys are refused. */
const closed = (schema: ObjectSchema): JsonSchema => ({ ...schema, additionalProperties: false })

function parameter(name: string, place: 'path' | 'query' | 'header', schema: JsonSchema, required: boolean) {
  const { description, ...rest } = schema as JsonSchema & { description?: string }
  return { name, in: place, required, ...(description !== undefined && { description }), schema: rest }
}

const IDEMPOTENCY_KEY = parameter(
  'Idempotency-Key',
  'header',
  Type.String({
    description: 'The same key with the same body gives the same answer for 24 hours, and the change is made once.',
    maxLength: 255,
  }),
  false,
)

function responses({ method, status, response, errors }: OperatorRoute): JsonObject {
  const keys: readonly ErrorKey[] = [
    ...COMMON_ERRORS,
    ...(method === 'GET' ? [] : ['origin_refused' as const]),
    ...errors,
  ]
  const statuses = [...new Set(keys.map((key) => ALL_ERRORS[key][0]))].sort()
  return {
    [status]: { description: 'Success.', ...contentOf(response) },
    ...Object.fromEntries(statuses.map((each) => [each, errorResponse(each, keys)])),
  }
}

function contentOf(response: OperatorRoute['response']): JsonObject {
  if (response === null) return {}
  return response === 'csv'
    ? { content: { 'text/csv': { schema: Type.String() } } }
    : { content: { 'application/json': { schema: response } } }
}

function errorResponse(status: number, keys: readonly ErrorKey[]): JsonObject {
  const own = keys.filter((key) => ALL_ERRORS[key][0] === status)
  const schema = Type.Object({
    rcode: Type.Literal(status),
    error: Type.String({ enum: own }),
    msg: Type.String(),
    ...(status === 400 && { field: Type.Optional(Type.String({ description: 'The name of the value.' })) }),
    ...(status === 409 && { token: Type.Optional(Type.Integer({ description: 'The token that was created.' })) }),
  })
  const description = own.map((key) => `\`${key}\`: ${ALL_ERRORS[key][1]}`).join(' ')
  return { description, content: { 'application/json': { schema } } }
}
