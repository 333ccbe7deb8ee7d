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
import type { Certificate, Vetted } from './visit.ts'

const notWrittenOut = () => ({}) as DetailedPeerCertificate
const WRONG_NAME = Object.assign(new Error('the certificate is for other names'), {
  code: 'ERR_TLS_CERT_ALTNAME_INVALID',
})

/**
 * Node's own roots (which follow NODE_EXTRA_CA_CERTS) and others in PEM. Old protocols and ciphers are spoken, because the
 * certificate of an old server is looked at all the same. Costly: made once.
 */
export function makeTrust(roots: readonly string[]): SecureContext {
  return createSecureContext({
    ca: [...getCACertificates('default'), ...roots],
    minVersion: 'TLSv1',
    ciphers: 'DEFAULT@SECLEVEL=0',
    ecdhCurve: 'X25519:P-256:P-384:P-521', // every server has one; a key share of ML-KEM costs more than all the rest
    secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT | constants.SSL_OP_NO_TICKET,
  })
}

/**
 * A socket that starts its TLS handshake, for `host` whatever certificate comes, as soon as it is connected. Node would write
 * out the whole chain as an object to compare the name, which costs as much as all of HTTP; OpenSSL compares it itself.
 */
export function startTls(to: Vetted, host: string, trust: SecureContext): TLSSocket {
  const socket: TLSSocket = connect({
    host: to.address,
    port: to.port,
    servername: host,
    secureContext: trust,
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
    checkServerIdentity: () => nameError(peerCertificate(socket), host),
  })
  socket.getPeerCertificate = notWrittenOut
  return socket
}

/** The verdict after a handshake that was done. */
export function judge(socket: TLSSocket): Certificate {
  return { kind: 'shown', error: socket.authorized ? null : String(socket.authorizationError) }
}

/** The verdict after a handshake that failed: the certificate may have come before that. */
export function judgeFailed(socket: TLSSocket, host: string): Certificate {
  const shown = peerCertificate(socket)
  if (shown === undefined) return { kind: 'none' }
  const error = verifyError(socket) ?? nameError(shown, host)
  return { kind: 'shown', error: error === undefined ? null : codeOf(error) }
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
 * never frees what it hands over, 5 KB a connection.
 */
function peerCertificate(socket: TLSSocket): X509Certificate | null | undefined {
  try {
    const raw = TLSSocket.prototype.getPeerCertificate.call(socket)?.raw
    return raw === undefined ? undefined : new X509Certificate(raw)
  } catch {
    return null
  }
}

/** OpenSSL's verdict on the chain; Node has no public way to it before the handshake is done. */
function verifyError(socket: TLSSocket & { ssl?: { verifyError?(): Error | null | undefined } | null }) {
  return socket.ssl?.verifyError?.() ?? undefined
}

export function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
