/** An operation of the OpenAPI document about what belongs to the account of the caller. */

import { type JsonSchema, Type } from '../endpoints/schema.ts'
import type { ErrorKey } from '../http/errors.ts'
import { errorResponseObject } from './responses.ts'

type JsonObject = Record<string, unknown>

export const ACCOUNT_SECURITY = [{ bearer: [] }, { session: [], csrf: [] }]
const COMMON_ERRORS: readonly ErrorKey[] = [
  ...(['token_missing', 'token_invalid', 'session_missing', 'origin_refused', 'internal_error'] as const),
]
type AccountOperation = {
  operationId: string
  summary: string
  tag: string
  /** Of what the path has the ID, such as `a watch`. */
  idOf?: string
  /** Whether the body may be missing. */
  isBodyOptional?: true
  body?: JsonSchema
  /** The status of success, and its body; null: none. */
  success: [status: number, schema: JsonSchema | null]
  errors?: readonly ErrorKey[]
}

/** An operation about what belongs to the account of the caller. It is free. */
export function accountOperation(operation: AccountOperation): JsonObject {
  const { operationId, summary, tag, idOf, body, isBodyOptional, success, errors = [] } = operation
  const [status, schema] = success
  const all = [...COMMON_ERRORS, ...errors]
  const statuses = [
    401,
    403,
    500,
    ...(body === undefined ? [] : [400, 413]),
    ...(errors.includes('conflict') ? [409] : []),
    ...(errors.includes('mail_unavailable') ? [503] : []),
  ]
  if (errors.includes('not_found')) statuses.push(404)
  const failures = statuses.map((each) => [each, errorResponseObject(each, all, false)])
  return {
    operationId,
    summary,
    tags: [tag],
    security: ACCOUNT_SECURITY,
    ...(idOf && { parameters: [idParameter(idOf)] }),
    ...(body && { requestBody: { required: !isBodyOptional, content: { 'application/json': { schema: body } } } }),
    responses: {
      [status]: { description: 'Success.', ...(schema && { content: { 'application/json': { schema } } }) },
      ...Object.fromEntries(failures),
    },
  }
}

function idParameter(idOf: string): JsonObject {
  const schema = Type.Integer({ minimum: 1 })
  return { name: 'id', in: 'path', required: true, description: `The ID of ${idOf}.`, schema }
}
