/** The paths of watches and events of the OpenAPI document. */

import { type JsonSchema, Type } from '../endpoints/schema.ts'
import { EVENTS } from '../endpoints/watch/events.ts'
import { preview } from '../endpoints/watch/preview.ts'
import { MutedSchema, NewWatchSchema, WatchListSchema, WatchSchema } from '../endpoints/watch/watches.ts'
import type { ErrorKey } from '../http/errors.ts'
import { errorResponseObject, queryParameter, responsesOf } from './responses.ts'

type JsonObject = Record<string, unknown>

const SECURITY = [{ bearer: [] }, { session: [], csrf: [] }]
const COMMON_ERRORS: readonly ErrorKey[] = [
  ...(['token_missing', 'token_invalid', 'session_missing', 'origin_refused', 'internal_error'] as const),
]
const WATCH_ID = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The ID of a watch.',
  schema: Type.Integer({ minimum: 1 }),
}

type WatchOperation = {
  operationId: string
  summary: string
  /** Whether the path has the ID of a watch. */
  hasId?: true
  body?: JsonSchema
  /** The status of success, and its body; null: none. */
  success: [status: number, schema: JsonSchema | null]
  errors?: readonly ErrorKey[]
}

/** An operation about watches. It is free. */
function watchOperation({ operationId, summary, hasId, body, success, errors = [] }: WatchOperation): JsonObject {
  const [status, schema] = success
  const all = [...COMMON_ERRORS, ...errors]
  const statuses = [
    401,
    403,
    500,
    ...(body === undefined ? [] : [400, 413]),
    ...(errors.includes('conflict') ? [409] : []),
  ]
  if (errors.includes('not_found')) statuses.push(404)
  const failures = statuses.map((each) => [each, errorResponseObject(each, all, false)])
  return {
    operationId,
    summary,
    tags: ['watches'],
    security: SECURITY,
    ...(hasId && { parameters: [WATCH_ID] }),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    responses: {
      [status]: { description: 'Success.', ...(schema && { content: { 'application/json': { schema } } }) },
      ...Object.fromEntries(failures),
    },
  }
}

const { 413: _noBody, ...eventResponses } = responsesOf(EVENTS)

export const WATCH_PATHS = {
  '/watches': {
    get: watchOperation({ operationId: 'watches', summary: 'Your watches; free', success: [200, WatchListSchema] }),
    post: watchOperation({
      operationId: 'createWatch',
      summary: 'Watch names, addresses, hosts, certificates or texts; free',
      body: NewWatchSchema,
      success: [201, WatchSchema],
      errors: ['value_invalid', 'body_too_large', 'conflict'],
    }),
  },
  '/watches/preview': {
    post: {
      operationId: 'previewWatch',
      summary: preview.summary,
      description: preview.description,
      tags: ['watches'],
      security: SECURITY,
      requestBody: { required: true, content: { 'application/json': { schema: preview.parameters } } },
      responses: responsesOf(preview),
    },
  },
  '/watches/{id}': {
    get: watchOperation({
      operationId: 'watch',
      summary: 'One watch; free',
      hasId: true,
      success: [200, WatchSchema],
      errors: ['not_found'],
    }),
    patch: watchOperation({
      operationId: 'muteWatch',
      summary: 'Mute a watch, or end that; free',
      body: MutedSchema,
      hasId: true,
      success: [200, WatchSchema],
      errors: ['value_invalid', 'body_too_large', 'not_found'],
    }),
    delete: watchOperation({
      operationId: 'removeWatch',
      summary: 'Remove a watch; free',
      hasId: true,
      success: [204, null],
      errors: ['not_found'],
    }),
  },
  '/events': {
    get: {
      operationId: 'events',
      summary: EVENTS.summary,
      description: EVENTS.description,
      tags: ['watches'],
      security: SECURITY,
      parameters: Object.entries(EVENTS.parameters.properties).map(([key, schema]) => queryParameter(key, schema)),
      responses: eventResponses,
    },
  },
}
