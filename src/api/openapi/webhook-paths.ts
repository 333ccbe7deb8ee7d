/** The paths of webhooks of the OpenAPI document. */

import {
  CreatedWebhookSchema,
  DeliveriesSchema,
  NewWebhookSchema,
  RedeliveredSchema,
  RedeliverSchema,
  TestResultSchema,
  WebhookListSchema,
} from '../endpoints/watch/webhooks.ts'
import { accountOperation } from './account-operation.ts'

const tag = 'watches'
const idOf = 'a webhook'

export const WEBHOOK_PATHS = {
  '/webhooks': {
    get: accountOperation({
      ...{ operationId: 'webhooks', tag, summary: 'Your webhooks; free' },
      success: [200, WebhookListSchema],
    }),
    post: accountOperation({
      ...{ operationId: 'createWebhook', tag, summary: 'Have events sent to a URL; free' },
      body: NewWebhookSchema,
      success: [201, CreatedWebhookSchema],
      errors: ['value_invalid', 'body_too_large', 'conflict'],
    }),
  },
  '/webhooks/{id}': {
    delete: accountOperation({
      ...{ operationId: 'removeWebhook', tag, idOf, summary: 'Remove a webhook; free' },
      success: [204, null],
      errors: ['not_found'],
    }),
  },
  '/webhooks/{id}/test': {
    post: accountOperation({
      ...{ operationId: 'testWebhook', tag, idOf, summary: 'Send a test message now; free' },
      success: [200, TestResultSchema],
      errors: ['not_found'],
    }),
  },
  '/webhooks/{id}/deliveries': {
    get: accountOperation({
      ...{ operationId: 'deliveries', tag, idOf, summary: 'The events that could not be delivered; free' },
      success: [200, DeliveriesSchema],
      errors: ['not_found'],
    }),
  },
  '/webhooks/{id}/redeliver': {
    post: accountOperation({
      ...{ operationId: 'redeliver', tag, idOf, summary: 'Try events again that are not tried any more; free' },
      body: RedeliverSchema,
      isBodyOptional: true,
      success: [200, RedeliveredSchema],
      errors: ['value_invalid', 'body_too_large', 'not_found'],
    }),
  },
}
