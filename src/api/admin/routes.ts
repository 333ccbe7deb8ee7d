/** The paths of the operator's API, and their part of the OpenAPI document. */

import type { FastifyInstance } from 'fastify'
import { SESSION_COOKIE } from '../auth/session-authenticator.ts'
import type { ApiContext } from '../context/context.ts'
import { type JsonSchema, type ObjectSchema, Type } from '../endpoints/schema.ts'
import { ALL_ERRORS, type ErrorKey } from '../http/errors.ts'
import { sendResponse } from '../http/response.ts'
import { addPageRoute, type RouteHandler } from '../http/routes.ts'
import * as accounts from './accounts.ts'
import * as reports from './reports.ts'
import { type OperatorMethod, type OperatorRoute, operatorHandler } from './route.ts'
import * as schemas from './schemas.ts'

type JsonObject = Record<string, unknown>

const COMMON_ERRORS: readonly ErrorKey[] = ['token_invalid', 'session_missing', 'operator_required', 'internal_error']

/** Unknown keys are refused. */
const closed = (schema: ObjectSchema): JsonSchema => ({ ...schema, additionalProperties: false })

const IDEMPOTENCY_KEY = parameter(
  'Idempotency-Key',
  'header',
  Type.String({
    description: 'The same key with the same body gives the same answer for 24 hours, and the change is made once.',
    maxLength: 255,
  }),
  false,
)

const ONE = '/admin/v1/accounts/:id'
const POST_ERRORS = ['value_invalid', 'conflict', 'too_many_attempts', 'body_too_large'] as const

type Declaration = Omit<OperatorRoute, 'method' | 'path'>

const route = (method: OperatorMethod, path: string, declaration: Declaration): OperatorRoute => {
  return { method, path, ...declaration }
}
/** A route that only reads. */
const read = (
  path: string,
  operationId: string,
  summary: string,
  { query, response, errors = [], handle }: ReadDeclaration,
): OperatorRoute =>
  route('GET', path, {
    operationId,
    summary,
    ...(query && { query }),
    status: 200,
    response,
    errors: ['value_invalid', ...errors],
    handle,
  })
/** A change of which the path says everything. */
const changeAt = (
  method: 'PUT' | 'DELETE',
  path: string,
  operationId: string,
  summary: string,
  handle: OperatorRoute['handle'],
): OperatorRoute =>
  route(method, path, {
    operationId,
    summary,
    status: 204,
    response: null,
    errors: ['value_invalid', 'not_found'],
    handle,
  })
type ReadDeclaration = Pick<OperatorRoute, 'query' | 'response' | 'handle'> & { errors?: readonly ErrorKey[] }

const ACCOUNT_ROUTES: readonly OperatorRoute[] = [
  read('/admin/v1/accounts', 'listAccounts', 'Accounts by email address', {
    query: schemas.AccountQuerySchema,
    response: schemas.AccountPageSchema,
    handle: accounts.listAccountsPage,
  }),
  route('POST', '/admin/v1/accounts', {
    operationId: 'createAccount',
    summary: 'Create an account',
    body: schemas.NewAccountSchema,
    status: 201,
    response: schemas.AccountSchema,
    errors: POST_ERRORS,
    handle: accounts.createAccountByOperator,
  }),
  read(ONE, 'readAccount', 'An account', {
    response: schemas.AccountSchema,
    errors: ['not_found'],
    handle: accounts.showAccountByOperator,
  }),
  route('PATCH', ONE, {
    operationId: 'changeAccount',
    summary: 'Change plan and role, suspend or resume',
    body: schemas.AccountChangeSchema,
    status: 200,
    response: schemas.AccountSchema,
    errors: ['value_invalid', 'not_found', 'conflict', 'body_too_large'],
    handle: accounts.changeAccountByOperator,
  }),
  route('DELETE', ONE, {
    operationId: 'deleteAccount',
    summary: 'Delete an account and its tokens',
    query: schemas.ConfirmQuerySchema,
    status: 204,
    response: null,
    errors: ['value_invalid', 'not_found', 'conflict'],
    handle: accounts.deleteAccountByOperator,
  }),
]

const SUBSCRIPTION_ROUTES: readonly OperatorRoute[] = [
  route('POST', `${ONE}/periods`, {
    operationId: 'addPeriod',
    summary: 'Add a subscription period',
    body: schemas.NewPeriodSchema,
    status: 201,
    response: schemas.AccountSchema,
    errors: [...POST_ERRORS, 'not_found'],
    handle: accounts.addPeriodByOperator,
  }),
  changeAt(
    'DELETE',
    `${ONE}/periods/:first`,
    'removePeriod',
    'Remove the period that starts on a day',
    accounts.removePeriodByOperator,
  ),
  changeAt('PUT', `${ONE}/addons/:addon`, 'addAddon', 'Add an add-on', accounts.addAddonByOperator),
  changeAt('DELETE', `${ONE}/addons/:addon`, 'removeAddon', 'Remove an add-on', accounts.removeAddonByOperator),
]

const TOKEN_ROUTES: readonly OperatorRoute[] = [
  read(`${ONE}/tokens`, 'listTokens', 'The tokens of an account', {
    response: schemas.TokenPageSchema,
    errors: ['not_found'],
    handle: accounts.listTokensByOperator,
  }),
  route('POST', `${ONE}/tokens`, {
    operationId: 'createToken',
    summary: 'Create a token, whose text is shown once',
    body: schemas.NewTokenSchema,
    status: 201,
    response: schemas.CreatedTokenSchema,
    errors: [...POST_ERRORS, 'not_found'],
    handle: accounts.createTokenByOperator,
  }),
  changeAt(
    'DELETE',
    `${ONE}/tokens/:token`,
    'revokeToken',
    'Revoke a token: every server rejects it within a second',
    accounts.revokeTokenByOperator,
  ),
]

const REPORT_ROUTES: readonly OperatorRoute[] = [
  read(`${ONE}/usage`, 'readUsage', 'The calls of an account by day, endpoint and token', {
    query: schemas.UsageQuerySchema,
    response: schemas.UsageReportSchema,
    errors: ['not_found'],
    handle: reports.showAccountUsage,
  }),
  read(`${ONE}/usage.csv`, 'readUsageCsv', 'The same as CSV', {
    query: schemas.UsageQuerySchema,
    response: 'csv',
    errors: ['not_found'],
    handle: reports.downloadAccountUsage,
  }),
  read('/admin/v1/usage', 'readUsageOfAll', 'The calls of all accounts, by account', {
    query: schemas.UsageOfAllQuerySchema,
    response: schemas.UsageReportSchema,
    handle: reports.showUsageOfAll,
  }),
  read('/admin/v1/usage.csv', 'readUsageOfAllCsv', 'The same as CSV; the header Link has the next page', {
    query: schemas.UsageOfAllQuerySchema,
    response: 'csv',
    handle: reports.downloadUsageOfAll,
  }),
  read('/admin/v1/operation', 'readOperation', 'The state of the crawl and of the nightly jobs', {
    response: schemas.OperationSchema,
    errors: ['not_found'],
    handle: reports.showOperation,
  }),
  route('POST', '/admin/v1/releases', {
    operationId: 'releaseDay',
    summary: 'Release a held daily file: the job scheduler publishes it within a minute',
    body: schemas.NewReleaseSchema,
    status: 202,
    response: schemas.ReleaseSchema,
    errors: [...POST_ERRORS, 'not_found'],
    handle: reports.requestReleaseByOperator,
  }),
  read('/admin/v1/audit', 'readAudit', 'The audit log, newest entry first', {
    query: schemas.AuditQuerySchema,
    response: schemas.AuditReportSchema,
    handle: reports.showAuditReport,
  }),
]

export const OPERATOR_ROUTES = [...ACCOUNT_ROUTES, ...SUBSCRIPTION_ROUTES, ...TOKEN_ROUTES, ...REPORT_ROUTES]

/** Adds the paths, and their OpenAPI document, which needs no token. */
export function addOperatorRoutes(app: FastifyInstance, context: ApiContext): void {
  for (const [path, routes] of Map.groupBy(OPERATOR_ROUTES, ({ path }) => path)) {
    const handlers = routes.map((each): [string, RouteHandler] => [each.method, operatorHandler(context, each)])
    addPageRoute(app, context, path, Object.fromEntries(handlers))
  }
  const document = Buffer.from(JSON.stringify(operatorDocument(OPERATOR_ROUTES, context.installation.version)))
  const response = { status: 200, body: [document], headers: [], isShared: true } as const
  addPageRoute(app, context, '/admin/openapi.json', {
    GET: (request, reply) => sendResponse(context.responses, request, reply, response),
  })
}

/** Builds the OpenAPI 3.1 document of the operator's API from the declarations of its paths. */
function operatorDocument(routes: readonly OperatorRoute[], version: string): JsonObject {
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

function parameter(name: string, place: 'path' | 'query' | 'header', schema: JsonSchema, required: boolean) {
  const { description, ...rest } = schema as JsonSchema & { description?: string }
  return { name, in: place, required, ...(description !== undefined && { description }), schema: rest }
}

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
