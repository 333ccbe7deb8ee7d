/** One path of the operator's API: its declaration, and how a request of it is handled. */

import type { FastifyRequest } from 'fastify'
import { readBody, valueError } from '../app/request-values.ts'
import type { ApiContext } from '../context.ts'
import type { JsonSchema, ObjectSchema } from '../endpoints/json-schema.ts'
import type { Parameters } from '../endpoints/parameters.ts'
import type { ErrorKey } from '../errors.ts'
import { acquireSlot } from '../http/limits/acquire-slot.ts'
import type { RouteHandler } from '../http/routes.ts'
import { respond } from '../respond.ts'
import { authenticateOperator, type Operator } from './operator.ts'
import { answerOnce, type OperatorResponse } from './repeated-request.ts'

/** What a handler reads. Keys of `query` and `body` are those that the route declares. */
export type OperatorCall = {
  context: ApiContext
  operator: Operator
  params: Readonly<Record<string, string>>
  query: Parameters
  body: Parameters
}

export type OperatorMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `path`: with `:name` for a segment. `response`: the schema of the body; null: none; `csv`: a file. */
export type OperatorRoute = {
  method: OperatorMethod
  path: string
  operationId: string
  summary: string
  query?: ObjectSchema
  body?: ObjectSchema
  status: number
  response: JsonSchema | 'csv' | null
  errors: readonly ErrorKey[]
  handle: (call: OperatorCall) => Promise<OperatorResponse>
}

/** The handler of a route: operator, slot, keys, answer. */
export function operatorHandler(context: ApiContext, route: OperatorRoute): RouteHandler {
  return (request, reply) => respond(context, request, reply, () => answerRoute(context, route, request))
}

async function answerRoute(context: ApiContext, route: OperatorRoute, request: FastifyRequest) {
  const { method, handle } = route
  const operator = await authenticateOperator(context, request, { isChange: method !== 'GET' })
  await acquireSlot(context, operator, request)
  const { params } = request
  const query = declaredKeys(request.query as Parameters, route.query)
  const body = route.body === undefined ? {} : declaredKeys(readBody(request), route.body)
  const work = () => handle({ context, operator, params: params as Record<string, string>, query, body })
  return method === 'POST' ? answerOnce(context, operator, request, work) : work()
}

/** Throws `value_invalid` for a key that the route does not declare, so that a misspelled one is not ignored. */
function declaredKeys(values: Parameters, schema: ObjectSchema | undefined): Parameters {
  const declared = schema?.properties ?? {}
  for (const key of Object.keys(values)) {
    if (Object.hasOwn(declared, key)) continue
    const known = Object.keys(declared).join(', ') || 'none'
    throw valueError(key.slice(0, 100), `There is no such key here. The keys are: ${known}.`)
  }
  return values
}
