/** The feed of an account: a link to its newest events for a reader of Atom. All calls cost nothing. */

import type { FeedResponse } from './api-types.ts'
import type { CallOptions, Transport } from './transport.ts'

/** `path`: what follows the address of the server. It is shown only once. */
export type NewFeed = { created: string; path: string }

export class Feed {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** When the link was created; null if there is none. */
  get({ signal }: CallOptions = {}): Promise<FeedResponse> {
    return this.#transport.get('feed', signal)
  }

  /** Creates a link. An earlier one is not valid any more. */
  async create({ signal }: CallOptions = {}): Promise<NewFeed> {
    return (await this.#transport.change<NewFeed>('POST', 'feed', null, signal))!
  }

  /** Ends the link. */
  async remove({ signal }: CallOptions = {}): Promise<void> {
    await this.#transport.change('DELETE', 'feed', null, signal)
  }
}
