/** TLS: what the crawler trusts, and the verdict on the certificate that a server shows. */

import { constants, type X509Certificate } from 'node:crypto'
import {
  checkServerIdentity,
  connect,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'
import type { Certificate, Vetted } from './visit.ts'

/**
 * Node's own roots (which follow NODE_EXTRA_CA_CERTS) and others in PEM. Old protocols and ciphers are spoken, because the
 * certificate of an old server is looked at all the same. Costly: made once.
 */
export function makeTrust(roots: readonly string[]): SecureContext {
  return createSecureContext({
    ca: [...getCACertificates('default'), ...roots],
    minVersion: 'TLSv1',
    ciphers: 'DEFAULT@SECLEVEL=0',
    secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT | constants.SSL_OP_NO_TICKET,
  })
}

/** A socket that starts its TLS handshake, for `host` whatever certificate comes, as soon as it is connected. */
export function startTls(to: Vetted, host: string, trust: SecureContext): TLSSocket {
  return connect({
    host: to.address,
    port: to.port,
    servername: host,
    secureContext: trust,
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
  })
}

/** The verdict after a handshake that was done. */
export function judge(socket: TLSSocket): Certificate {
  return { kind: 'shown', error: socket.authorized ? null : String(socket.authorizationError) }
}

/** The verdict after a handshake that failed: the certificate may have come before that. */
export function judgeFailed(socket: TLSSocket, host: string): Certificate {
  const shown = peerCertificate(socket)
  if (shown === undefined) return { kind: 'none' }
  const error = verifyError(socket) ?? checkServerIdentity(host, shown.toLegacyObject())
  return { kind: 'shown', error: error === undefined ? null : codeOf(error) }
}

function peerCertificate(socket: TLSSocket): X509Certificate | undefined {
  try {
    return socket.getPeerX509Certificate()
  } catch {
    return undefined // the handle is gone
  }
}

/** OpenSSL's verdict on the chain; Node has no public way to it before the handshake is done. */
function verifyError(socket: TLSSocket & { ssl?: { verifyError?(): Error | null | undefined } | null }) {
  return socket.ssl?.verifyError?.() ?? undefined
}

export function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
