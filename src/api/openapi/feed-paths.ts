/** The paths of feeds of the OpenAPI document. */

import { Type } from '../endpoints/schema.ts'
import { FeedSchema, NewFeedSchema } from '../endpoints/watch/feed.ts'
import { accountOperation } from './account-operation.ts'
import { errorResponseObject } from './responses.ts'

const tag = 'watches'
const ATOM = { 'application/atom+xml': { schema: Type.String() } }
const KEY = { name: 'key', in: 'query', required: true, description: 'From the link.', schema: Type.String() }
const ERRORS = ['token_missing', 'token_invalid', 'rate_limited', 'internal_error'] as const

export const FEED_PATHS = {
  '/feed': {
    get: accountOperation({
      ...{ operationId: 'feed', tag, summary: 'Whether there is a link to your feed; free' },
      success: [200, FeedSchema],
    }),
    post: accountOperation({
      ...{ operationId: 'createFeed', tag, summary: 'Create a link to your feed, which ends an earlier one; free' },
      success: [201, NewFeedSchema],
    }),
    delete: accountOperation({
      ...{ operationId: 'removeFeed', tag, summary: 'End the link to your feed; free' },
      success: [204, null],
    }),
  },
  '/events.atom': {
    get: {
      operationId: 'eventsFeed',
      summary: 'Your newest 100 events as an Atom feed',
      tags: [tag],
      security: [],
      parameters: [KEY],
      responses: {
        200: { description: 'The feed. It is charged as one call, if it has events.', content: ATOM },
        304: { description: 'The feed has not changed. It is free.' },
        ...Object.fromEntries([401, 429, 500].map((each) => [each, errorResponseObject(each, ERRORS, false)])),
      },
    },
  },
}
