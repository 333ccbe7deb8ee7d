/** The machines of the lab: their addresses, and what listens on their two web ports. */

/**
 * `http`, `https`: the sites of the lab. `refused`: nothing listens. `mute`: accepts the connection and sends nothing.
 * `banner`: speaks another protocol. `cut`: closes the connection at the first bytes. `old`: TLS 1.0 only. `demanding`:
 * TLS that requires a client certificate. `http2`: TLS and HTTP/2 only.
 */
export type PortBehaviour = 'http' | 'https' | 'refused' | 'mute' | 'banner' | 'cut' | 'old' | 'demanding' | 'http2'

/** What listens on ports 80 and 443. */
export type Machine = { plain: PortBehaviour; secure: PortBehaviour }

/** Shared hosting: most sites of the lab. */
export const HARBOUR = '127.20.0.1'
export const MEADOW = '127.20.0.2'
export const SUMMIT = '127.20.0.3'
export const ORCHARD = '127.20.0.4'
/** The only IPv6 address of loopback. */
export const SIXTH = '::1'
export const PLAIN_ONLY = '127.20.1.1'
export const SECURE_ONLY = '127.20.1.2'
export const DEAF = '127.20.1.3'
export const MUTE = '127.20.1.4'
export const BANNER = '127.20.1.5'
export const TLS_MUTE = '127.20.1.6'
export const TLS_PLAIN = '127.20.1.7'
export const TLS_CUT = '127.20.1.8'
export const TLS_OLD = '127.20.1.9'
export const TLS_DEMANDING = '127.20.1.10'
export const TLS_HTTP2 = '127.20.1.11'
/** Parked names. */
export const PARKING = '127.20.2.1'
/** The many addresses of one name. */
export const CROWD: readonly string[] = Array.from({ length: 300 }, (_, index) => `127.21.${index >> 8}.${index & 255}`)

const WEB: Machine = { plain: 'http', secure: 'https' }

/** By address. */
export const MACHINES: Readonly<Record<string, Machine>> = {
  [HARBOUR]: WEB,
  [MEADOW]: WEB,
  [SUMMIT]: WEB,
  [ORCHARD]: WEB,
  [SIXTH]: WEB,
  [PLAIN_ONLY]: { plain: 'http', secure: 'refused' },
  [SECURE_ONLY]: { plain: 'refused', secure: 'https' },
  [DEAF]: { plain: 'refused', secure: 'refused' },
  [MUTE]: { plain: 'mute', secure: 'mute' },
  [BANNER]: { plain: 'banner', secure: 'banner' },
  [TLS_MUTE]: { plain: 'http', secure: 'mute' },
  [TLS_PLAIN]: { plain: 'http', secure: 'http' },
  [TLS_CUT]: { plain: 'http', secure: 'cut' },
  [TLS_OLD]: { plain: 'http', secure: 'old' },
  [TLS_DEMANDING]: { plain: 'http', secure: 'demanding' },
  [TLS_HTTP2]: { plain: 'http', secure: 'http2' },
  [PARKING]: { plain: 'http', secure: 'refused' },
  ...Object.fromEntries(CROWD.map((address) => [address, WEB])),
}
