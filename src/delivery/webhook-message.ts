/** The messages of webhooks by the Standard Webhooks convention, and their signatures. Pure. */

import { createHmac } from 'node:crypto'
import type { StoredEvent } from '../store/port/watch/events.ts'
import { formatInstant, type Instant } from '../values/time.ts'

/** A message. `id`: the same for each attempt, so that a receiver recognizes what it has. */
export type WebhookMessage = { id: string; body: string }

/** A message about an event. Its ID has the time too, because a restored store can give a number again. */
export function eventMessage(event: StoredEvent): WebhookMessage {
  return { id: `evt_${event.number}_${event.time}`, body: messageBody('watch.event', event.time, eventJson(event)) }
}

/** A message that only tests a webhook. */
export function testMessage(webhook: number, test: number, now: Instant): WebhookMessage {
  return { id: `test_${webhook}_${test}`, body: messageBody('webhook.test', now, `{"webhook":${webhook}}`) }
}

function messageBody(type: string, time: Instant, data: string): string {
  return `{"type":"${type}","timestamp":"${formatInstant(time)}Z","data":${data}}`
}

/** The headers of an attempt: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
export function signedHeaders({ id, body }: WebhookMessage, key: Uint8Array, now: Instant): Record<string, string> {
  const signature = createHmac('sha256', key).update(`${id}.${now}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(now),
    'webhook-signature': `v1,${signature}`,
  }
}

/** An event as JSON, in messages and in responses. */
export function eventJson({ number, time, watch, name, observed_at, differences }: StoredEvent): string {
  const observed = observed_at === null ? 'null' : `"${formatInstant(observed_at)}Z"`
  const about = `"watch":${watch},"name":${JSON.stringify(name)},"observed_at":${observed}`
  return `{"id":${number},"time":"${formatInstant(time)}Z",${about},"differences":${differences}}`
}
