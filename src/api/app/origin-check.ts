/** Checks that a request of a browser comes from a page of this server. */

import { ApiError } from '../errors.ts'
import type { ApiRequest } from '../http/exchange.ts'

export class OriginCheck {
  readonly #publicOrigin: string | null

  /** `publicUrl`: the address that users see; null if it is the host that they request. */
  constructor(publicUrl: string | null) {
    this.#publicOrigin = publicUrl === null ? null : new URL(publicUrl).origin
  }

  /**
   * Throws `origin_refused` if the headers Sec-Fetch-Site (W3C Fetch Metadata) or Origin (RFC 6454) name another page.
   * A client that sends neither is not a browser.
   */
  check({ headers }: ApiRequest): void {
    const site = headers['sec-fetch-site']
    if (site !== undefined && site !== 'same-origin') throw new ApiError('origin_refused')
    const { origin } = headers
    if (origin === undefined) return
    if (this.#publicOrigin !== null ? origin === this.#publicOrigin : hostOf(origin) === headers.host) return
    throw new ApiError('origin_refused')
  }
}

/** The host and port of an origin; null if it is not the origin of a web page. A proxy may have ended its TLS. */
function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
