/** The paths of watches and events of the OpenAPI document. */

import { EVENTS } from '../endpoints/watch/events.ts'
import { preview } from '../endpoints/watch/preview.ts'
import { MutedSchema, NewWatchSchema, WatchListSchema, WatchSchema } from '../endpoints/watch/watches.ts'
import { ACCOUNT_SECURITY, accountOperation } from './account-operation.ts'
import { queryParameter, responsesOf } from './responses.ts'

/** An operation about watches. */
const watchOperation = (operation: Omit<Parameters<typeof accountOperation>[0], 'tag'>) =>
  accountOperation({ tag: 'watches', ...operation })

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
      security: ACCOUNT_SECURITY,
      requestBody: { required: true, content: { 'application/json': { schema: preview.parameters } } },
      responses: responsesOf(preview),
    },
  },
  '/watches/{id}': {
    get: watchOperation({
      operationId: 'watch',
      summary: 'One watch; free',
      idOf: 'a watch',
      success: [200, WatchSchema],
      errors: ['not_found'],
    }),
    patch: watchOperation({
      operationId: 'muteWatch',
      summary: 'Mute a watch, or end that; free',
      body: MutedSchema,
      idOf: 'a watch',
      success: [200, WatchSchema],
      errors: ['value_invalid', 'body_too_large', 'not_found'],
    }),
    delete: watchOperation({
      operationId: 'removeWatch',
      summary: 'Remove a watch; free',
      idOf: 'a watch',
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
      security: ACCOUNT_SECURITY,
      parameters: Object.entries(EVENTS.parameters.properties).map(([key, schema]) => queryParameter(key, schema)),
      responses: eventResponses,
    },
  },
}
