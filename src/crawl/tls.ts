/** TLS: what the crawler trusts, and the verdict on the certificate that a server shows. */

import { constants, X509Certificate } from 'node:crypto'
import {
  connect,
  createSecureContext,
  type DetailedPeerCertificate,
  getCACertificates,
  type SecureContext,
  TLSSocket,
} from 'node:tls'
import { certificateIn } from './tls-session.ts'
import { weaknessOf } from './tls-strength.ts'
import type { Certificate, Vetted } from './visit.ts'

const MOST_CERTIFICATES = 16
/** Of TLS 1.3, in the order of browsers: the first one is computed fastest. */
const SUITES = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256'
const notWrittenOut = () => ({}) as DetailedPeerCertificate
const WRONG_NAME = Object.assign(new Error('the certificate is for other names'), {
  code: 'ERR_TLS_CERT_ALTNAME_INVALID',
})

/**
 * How handshakes are offered. `usual`: as OpenSSL does by default, security level 2, so that the verdict is its own. `old`:
 * with all that it still speaks and no protocol over TLS named, for servers that refuse the usual one: those of TLS 1.0 and 1.1,
 * of short keys, of HTTP/2 alone.
 */
export type Trust = { usual: SecureContext; old: SecureContext }
export type Manner = keyof Trust

/** `ending` is called before the socket gives up its handle, and with it what was shown. */
export type Offer = { trust: Trust; manner: Manner; ending(error: Error | null): void }

/** Node's own roots (which follow NODE_EXTRA_CA_CERTS) and others in PEM. Costly: made once. */
export function makeTrust(roots: readonly string[]): Trust {
  const shared = {
    ca: [...getCACertificates('default'), ...roots],
    ecdhCurve: 'X25519:P-256:P-384:P-521', // every server has one; a key share of ML-KEM costs more than all the rest
    secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT | constants.SSL_OP_NO_TICKET,
  }
  return {
    usual: createSecureContext({ ...shared, ciphers: `${SUITES}:DEFAULT@SECLEVEL=2` }),
    old: createSecureContext({ ...shared, minVersion: 'TLSv1', ciphers: `${SUITES}:DEFAULT@SECLEVEL=0` }),
  }
}

/**
 * A socket that starts its TLS handshake, for `host` whatever certificate comes, as soon as it is connected. Node would write
 * out the whole chain as an object to compare the name, which costs as much as all of HTTP; OpenSSL compares it itself.
 */
export function startTls(to: Vetted, host: string, offer: Offer): TLSSocket {
  const { trust, manner, ending } = offer
  const socket: TLSSocket = connect({
    host: to.at ?? to.address,
    port: to.port,
    servername: host,
    secureContext: trust[manner],
    rejectUnauthorized: false,
    ...(manner === 'usual' && { ALPNProtocols: ['http/1.1'] }),
    checkServerIdentity: () => nameError(peerCertificate(socket, certificateIn(socket.getSession())), host),
  })
  socket.getPeerCertificate = notWrittenOut
  const { _destroy } = socket
  socket._destroy = (error, done) => {
    ending(error)
    _destroy.call(socket, error, done)
  }
  return socket
}

/** The verdict after a handshake that was done. */
export function judge(socket: TLSSocket, manner: Manner): Certificate {
  const error = socket.authorized ? null : String(socket.authorizationError)
  return { kind: 'shown', error: error ?? weaknessAfter(socket, manner) }
}

/** The verdict after a handshake that failed: the certificate may have come before that. */
export function judgeFailed(socket: TLSSocket, host: string, manner: Manner): Certificate {
  const shown = peerCertificate(socket)
  if (shown === undefined) return { kind: 'none' }
  const error = verifyError(socket) ?? nameError(shown, host)
  return { kind: 'shown', error: error === undefined ? weaknessAfter(socket, manner) : codeOf(error) }
}

/** What security level 2 would have said, where the manner did not have OpenSSL say it. */
function weaknessAfter(socket: TLSSocket, manner: Manner): string | null {
  return manner === 'old' ? weaknessOf(chainOf(socket)) : null
}

/**
 * As RFC 6125 compares: the names of the certificate, or its subject where it has none; a `*` is a whole label. Names that
 * OpenSSL cannot read, at which it throws, are none.
 */
function nameError(shown: X509Certificate | null | undefined, host: string): Error | undefined {
  try {
    return shown?.checkHost(host, { partialWildcards: false }) === undefined ? WRONG_NAME : undefined
  } catch {
    return WRONG_NAME
  }
}

/**
 * Undefined where none came, null where it cannot be read. It is read from its bytes, because getPeerX509Certificate (Node 24)
 * never frees what it hands over, 5 KB a connection; and from those in the session of a handshake that was done, where they
 * are found, because Node tells them otherwise with every field written out.
 */
function peerCertificate(socket: TLSSocket, known: Buffer | null = null): X509Certificate | null | undefined {
  try {
    const raw = known ?? TLSSocket.prototype.getPeerCertificate.call(socket)?.raw
    return raw === undefined ? undefined : new X509Certificate(raw)
  } catch {
    return null
  }
}

/** The certificate and those above it, to the root where that is known; those that can be read. */
function chainOf(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = []
  try {
    let each = TLSSocket.prototype.getPeerCertificate.call(socket, true) as DetailedPeerCertificate | undefined
    while (each?.raw !== undefined && chain.length < MOST_CERTIFICATES) {
      chain.push(new X509Certificate(each.raw))
      each = each.issuerCertificate === each ? undefined : each.issuerCertificate
    }
  } catch {
    return chain
  }
  return chain
}

/** OpenSSL's verdict on the chain; Node has no public way to it before the handshake is done. */
function verifyError(socket: TLSSocket & { ssl?: { verifyError?(): Error | null | undefined } | null }) {
  return socket.ssl?.verifyError?.() ?? undefined
}

export function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
