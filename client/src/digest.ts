/** The digest of an account: mail with its events. All calls cost nothing. */

import type { DigestResponse } from './api-types.ts'
import type { CallOptions, Transport } from './transport.ts'

export class Digest {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** How often mail comes, and when the next one is written. */
  get({ signal }: CallOptions = {}): Promise<DigestResponse> {
    return this.#transport.get('digest', signal)
  }

  /** Changes how often mail comes. A call that fails is not repeated. */
  async set(period: DigestResponse['period'], { signal }: CallOptions = {}): Promise<DigestResponse> {
    return (await this.#transport.change<DigestResponse>('PUT', 'digest', { period }, signal))!
  }
}
