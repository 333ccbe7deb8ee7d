/** The webhooks of an account: the URLs that its events are sent to. All calls cost nothing. */

import type { DeliveriesResponse, WebhooksResponse, WebhookTestResponse } from './api-types.ts'
import type { CallOptions, Transport } from './transport.ts'

export type Webhook = WebhooksResponse['webhooks'][number]
/** A webhook with the secret that verifies its messages, which is shown only once. */
export type CreatedWebhook = Webhook & { secret: string }
/** A webhook to create. `watches`: the IDs of those whose events are sent; by default all. */
export type NewWebhook = Pick<Webhook, 'url'> & { watches?: Webhook['watches'] | undefined }
/** An event that could not be delivered yet. */
export type Delivery = DeliveriesResponse['deliveries'][number]

/** A call that changes something is not repeated if it fails. */
export class Webhooks {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** The webhooks of the account, and how many it may have. */
  list({ signal }: CallOptions = {}): Promise<WebhooksResponse> {
    return this.#transport.get('webhooks', signal)
  }

  async create({ url, watches }: NewWebhook, { signal }: CallOptions = {}): Promise<CreatedWebhook> {
    return (await this.#transport.change<CreatedWebhook>('POST', 'webhooks', { url, watches }, signal))!
  }

  async remove(id: number, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.change('DELETE', `webhooks/${id}`, null, signal)
  }

  /** Sends a test message, and returns how the receiver answered. It takes up to 20 seconds. */
  async test(id: number, { signal }: CallOptions = {}): Promise<WebhookTestResponse> {
    return (await this.#transport.change<WebhookTestResponse>('POST', `webhooks/${id}/test`, null, signal))!
  }

  /** A webhook, and its events that could not be delivered, the newest first. */
  deliveries(id: number, { signal }: CallOptions = {}): Promise<DeliveriesResponse> {
    return this.#transport.get(`webhooks/${id}/deliveries`, signal)
  }

  /** Sends one event, by default all, that is not tried any more. Returns their number. */
  async redeliver(id: number, event?: number, { signal }: CallOptions = {}): Promise<number> {
    const path = `webhooks/${id}/redeliver`
    return (await this.#transport.change<{ redelivered: number }>('POST', path, { event }, signal))!.redelivered
  }
}
