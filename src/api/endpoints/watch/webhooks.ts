/** The webhooks of an account in requests and responses: their schemas, and how they are read and written. */

import { parseWebhookUrl } from '../../../delivery/webhook-url.ts'
import { type Delivery, MAX_DELIVERIES, type OwnWebhook } from '../../../store/port/watch/webhooks.ts'
import { type Instant, utcText } from '../../../values/time.ts'
import type { Parameters } from '../../http/parameters.ts'
import { exactObject, nullable, Type, UtcInstantSchema } from '../schema.ts'
import { rejectValue } from './watches.ts'

/** The maximum number of watches in the list of a webhook. More than that: all of them. */
const MAX_LISTED_WATCHES = 1_000
const EVENT_ID = { description: 'The `id` of an event.' }
const NULL_STATUS = 'Null: no response came.'

const UrlSchema = Type.String({
  description: 'Where messages are sent. Public, with https:// and without a port, unless the operator allows others.',
  examples: ['https://example.com/domaindex'],
})
const WatchesSchema = nullable(
  Type.Array(Type.Integer(), { maxItems: MAX_LISTED_WATCHES }),
  'The IDs of the watches whose events are sent; null: all.',
)

const WebhookProperties = {
  id: Type.Integer(),
  url: UrlSchema,
  watches: WatchesSchema,
  created: UtcInstantSchema,
  state: Type.String({
    enum: ['active', 'failing', 'disabled'],
    description: '`failing`: the last attempt failed. `disabled`: nothing is sent, until a test succeeds.',
  }),
  failing_since: nullable(UtcInstantSchema, 'The first failed attempt since the last success.'),
  next_attempt: nullable(UtcInstantSchema, 'Until when nothing is sent, because the receiver is down; null: no pause.'),
  last_success: nullable(UtcInstantSchema, 'The last attempt that succeeded.'),
  last_error: nullable(Type.String(), 'Why the last failed attempt failed.'),
  disabled: nullable(UtcInstantSchema, 'Since when nothing is sent.'),
  waiting: Type.Integer({ description: 'Events that failed and are tried again.' }),
  dead: Type.Integer({ description: 'Events that failed and are not tried again.' }),
}
export const WEBHOOK_FIELDS = Object.keys(WebhookProperties)
const WebhookSchema = exactObject(WebhookProperties)

export const WebhookListSchema = exactObject({
  webhooks: Type.Array(WebhookSchema),
  max: Type.Integer({ description: 'The maximum number of webhooks of the plan.' }),
})
export const CreatedWebhookSchema = exactObject({
  ...WebhookProperties,
  secret: Type.String({ description: 'Verifies the signatures. It is shown only once.', examples: ['whsec_…'] }),
})
export const NewWebhookSchema = Type.Object({ url: UrlSchema, watches: Type.Optional(WatchesSchema) })
export const TestResultSchema = exactObject({
  delivered: Type.Boolean(),
  status: nullable(Type.Integer(), NULL_STATUS),
  error: nullable(Type.String(), 'Null if it was delivered.'),
  milliseconds: Type.Integer(),
})

const DeliveryProperties = {
  event: Type.Integer(EVENT_ID),
  time: UtcInstantSchema,
  state: Type.String({ enum: ['waiting', 'dead'], description: '`dead`: it is not tried again.' }),
  attempts: Type.Integer(),
  last_attempt: nullable(UtcInstantSchema, 'Null: it was too old to be tried.'),
  next_attempt: nullable(UtcInstantSchema, 'Null: there is none, because it is dead or the webhook is disabled.'),
  error: Type.String({ description: 'Why the last attempt failed.' }),
}
export const DELIVERY_FIELDS = Object.keys(DeliveryProperties)
export const DeliveriesSchema = exactObject({
  webhook: WebhookSchema,
  deliveries: Type.Array(exactObject(DeliveryProperties), {
    maxItems: 2 * MAX_DELIVERIES,
    description: 'Events whose first attempt failed, the newest first, until they are delivered.',
  }),
})
export const RedeliverSchema = exactObject({ event: Type.Optional(Type.Integer(EVENT_ID)) })
export const RedeliveredSchema = exactObject({ redelivered: Type.Integer() })

/** A webhook as it is sent. */
export function webhookBody(webhook: OwnWebhook, now: Instant): object {
  const { id, url, watches, created, failing_since, paused_until, last_success, last_error, disabled } = webhook
  const { waiting, dead } = webhook
  return {
    ...{ id, url, watches, created: utcText(created) },
    state: disabled !== null ? 'disabled' : failing_since !== null ? 'failing' : 'active',
    failing_since: utcText(failing_since),
    next_attempt: disabled === null && paused_until > now ? utcText(paused_until) : null,
    ...{ last_success: utcText(last_success), last_error, disabled: utcText(disabled), waiting, dead },
  }
}

/** A failed event of a webhook as it is sent. A webhook that is disabled or pauses holds its attempts up. */
export function deliveryBody(
  { event, event_time, attempts, tried, due, error }: Delivery,
  { disabled, paused_until }: Pick<OwnWebhook, 'disabled' | 'paused_until'>,
): object {
  const state = due === null ? 'dead' : 'waiting'
  const next = due === null || disabled !== null ? null : (Math.max(due, paused_until) as Instant)
  const times = { last_attempt: utcText(tried), next_attempt: utcText(next) }
  return { event, time: utcText(event_time), state, attempts, ...times, error }
}

/** `known`: the IDs of the account's watches. Throws `value_invalid`. */
export function readNewWebhook(
  { url, watches = null }: Parameters,
  { known, allowsPrivate }: { known: ReadonlySet<number>; allowsPrivate: boolean },
): { url: string; watches: number[] | null } {
  if (typeof url !== 'string') rejectValue('url', '"url" must be a text.')
  const parsed = parseWebhookUrl((url as string).trim(), allowsPrivate)
  if ('problem' in parsed) rejectValue('url', `The URL cannot be used. ${parsed.problem}`)
  if (watches === null) return { url: parsed.url, watches: null }
  const isList = Array.isArray(watches) && watches.length > 0 && watches.length <= MAX_LISTED_WATCHES
  if (!isList || !watches.every((id) => known.has(id)))
    rejectValue('watches', `"watches" must be a list of 1 to ${MAX_LISTED_WATCHES} IDs of your watches, or null.`)
  return { url: parsed.url, watches: [...new Set(watches as number[])].sort((a, b) => a - b) }
}

/** The event to send again; null: all. Throws `value_invalid`, also for unknown keys, so that a mistake does not mean all. */
export function readRedelivered({ event, ...others }: Parameters): number | null {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) rejectValue(unknown, `"${unknown}" is not known: only "event" is.`)
  if (event === undefined) return null
  if (!Number.isSafeInteger(event) || Number(event) <= 0) rejectValue('event', '"event" must be the ID of an event.')
  return Number(event)
}
