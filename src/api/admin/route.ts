/** One path of the operator's API: its declaration, who may use it, and how a request of it is handled. */

import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { type Actor, webActor } from '../../accounts/audit.ts'
import { hashToken, isActive, OPERATOR_TOKEN_PREFIX, parseToken } from '../../accounts/token.ts'
import { ANSWER_SECONDS } from '../../store/port/accounts/operator.ts'
import { UncertainWriteFault } from '../../store/port/fault.ts'
import { type Day, dayOf, type Instant } from '../../values/time.ts'
import { valueError } from '../app/request-values.ts'
import type { ApiContext } from '../context/context.ts'
import type { JsonSchema, ObjectSchema } from '../endpoints/schema.ts'
import { ApiError, type ErrorKey } from '../http/errors.ts'
import type { ApiRequest } from '../http/exchange.ts'
import { acquireSlot } from '../http/limits/overload.ts'
import type { Parameters } from '../http/parameters.ts'
import { readBody } from '../http/request.ts'
import { type ApiResponse, respond } from '../http/response.ts'
import type { RouteHandler } from '../http/routes.ts'

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

/**
 * Who sends a request. `account.id`: the account of the session, or the ID of the token as a negative number. `holder`:
 * to whom keys of repeated requests belong.
 */
export type Operator = { account: { id: number }; actor: Actor; holder: string; now: Instant; today: Day }

/** Seconds between two records that a token is in use. */
const TOUCH_SECONDS = 60

const TOKEN_MESSAGE =
  'The token of the operator is unknown, revoked or expired: create one with "domaindex operator token create NAME".'

/**
 * Returns the operator of a request: that of a token, or of the session of an account with the role `admin`. `isChange`: a session needs the header X-CSRF-Token. Throws `token_invalid`,
 * `session_missing`, `origin_refused` and `operator_required`.
 */
async function authenticateOperator(
  context: ApiContext,
  request: ApiRequest,
  { isChange }: { isChange: boolean },
): Promise<Operator> {
  const { authorization } = request.headers
  if (authorization !== undefined) return operatorOfToken(context, request, authorization)
  const { account, now, today } = await context.sessions.authenticateSession(request, { csrf: isChange })
  if (account.role !== 'admin') throw new ApiError('operator_required')
  const actor = webActor(account.email)
  return { account, actor, holder: `account ${account.id}`, now, today }
}

async function operatorOfToken(
  { ledger, clientLimits, now: clock, log }: ApiContext,
  { ip }: ApiRequest,
  authorization: string,
): Promise<Operator> {
  clientLimits.checkFailures(ip)
  const text = /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
  const parsed = parseToken(text, OPERATOR_TOKEN_PREFIX)
  const token = parsed === null ? null : await ledger.findOperatorToken(hashToken(parsed))
  const now = clock()
  if (token === null || !isActive(token, now)) throw new ApiError('token_invalid', { msg: TOKEN_MESSAGE })
  if (token.last_used === null || now - token.last_used >= TOUCH_SECONDS)
    ledger.touchOperatorToken(token.id, now).catch((err: unknown) => log.error({ err }, 'ledger failed'))
  const actor = { user: `operator token ${token.id} (${token.name})`, origin: 'admin' }
  return { account: { id: -token.id }, actor, holder: `token ${token.id}`, now, today: dayOf(now) }
}

/** `repeated`: the answer to the same request again, if it differs because the first one contains a secret. */
export type OperatorResponse = ApiResponse & { repeated?: ApiResponse }

/** The maximum number of keys that an operator may use in a day. */
const MAX_KEYS = 10_000
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

const OTHER_REQUEST_MESSAGE = 'This Idempotency-Key belongs to another request: use a new key.'
const UNANSWERED_MESSAGE =
  'The first request with this Idempotency-Key has no answer yet, or nobody knows whether the store wrote its change: ' +
  'read what it changed, then use a new key.'

/**
 * Answers a repeated request with the first answer: the header Idempotency-Key (draft-ietf-httpapi-idempotency-key). Runs
 * `work` once per key. Throws `conflict` and `too_many_attempts`, and what `work` throws.
 */
async function answerOnce(
  { ledger }: ApiContext,
  { holder, now }: Operator,
  request: FastifyRequest,
  work: () => Promise<OperatorResponse>,
): Promise<ApiResponse> {
  const { 'idempotency-key': text } = request.headers
  if (text === undefined) return work()
  if (typeof text !== 'string' || !KEY_PATTERN.test(text))
    throw valueError('Idempotency-Key', 'An Idempotency-Key has 1 to 255 visible ASCII characters.')
  const key = { holder, key: text }
  const claim = await ledger.claimAnswer(MAX_KEYS, key, digestOf(request), now)
  if (claim === 'other_request') throw new ApiError('conflict', { msg: OTHER_REQUEST_MESSAGE })
  if (claim === 'unanswered') throw new ApiError('conflict', { msg: UNANSWERED_MESSAGE })
  if (claim === 'too_many')
    throw new ApiError('too_many_attempts', {
      msg: `There are ${MAX_KEYS} keys of the last 24 hours: wait, or send no Idempotency-Key.`,
      retryAfter: ANSWER_SECONDS,
    })
  if (claim !== 'claimed') return { status: claim.status, body: [claim.body], headers: ['Idempotent-Replayed', 'true'] }
  const response = await work().catch(async (thrown: unknown) => {
    if (!(thrown instanceof UncertainWriteFault)) await ledger.releaseAnswer(key)
    throw thrown
  })
  const { status, body } = response.repeated ?? response
  await ledger.storeAnswer(key, { status, body: body.join('') })
  return response
}

function digestOf({ method, url, body }: FastifyRequest): Uint8Array {
  return createHash('sha256')
    .update(`${method} ${url}\n${String(body ?? '')}`)
    .digest()
}
