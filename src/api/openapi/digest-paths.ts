/** The paths of digests of the OpenAPI document. */

import { Type } from '../endpoints/schema.ts'
import { DigestSchema, NewDigestSchema } from '../endpoints/watch/digest.ts'
import { accountOperation } from './account-operation.ts'

const tag = 'watches'
const HTML = { 'text/html': { schema: Type.String() } }
const KEY = { name: 'key', in: 'query', required: true, description: 'From the link of a mail.', schema: Type.String() }

const PAGE_RESPONSE = { description: 'An HTML page.', content: HTML }
const INVALID_RESPONSE = { description: 'No mail has this link, or it has ended: an HTML page.', content: HTML }

function unsubscribeOperation(operationId: string, summary: string, responses: object): object {
  return { operationId, summary, tags: [tag], security: [], parameters: [KEY], responses }
}

export const DIGEST_PATHS = {
  '/digest': {
    get: accountOperation({
      ...{ operationId: 'digest', tag, summary: 'How often you get mail with your events; free' },
      success: [200, DigestSchema],
    }),
    put: accountOperation({
      ...{ operationId: 'setDigest', tag, summary: 'Change how often you get mail with your events; free' },
      body: NewDigestSchema,
      success: [200, DigestSchema],
      errors: ['value_invalid', 'body_too_large', 'mail_unavailable'],
    }),
  },
  '/digest/unsubscribe': {
    get: unsubscribeOperation('unsubscribePage', 'A page with a button that stops the mail', { 200: PAGE_RESPONSE }),
    post: unsubscribeOperation('unsubscribe', 'Stop the mail with the link of one (RFC 8058)', {
      ...{ 200: PAGE_RESPONSE, 404: INVALID_RESPONSE },
    }),
  },
}
