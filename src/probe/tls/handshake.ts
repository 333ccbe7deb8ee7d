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
import type { CertificateResult, VettedEndpoint } from '../probe-result.ts'
import { weakestLinkError } from './chain-strength.ts'
import { certificateFromSession } from './session-certificate.ts'

const MAX_CHAIN_CERTIFICATES = 16
/** Of TLS 1.3, in the order of browsers: the first one is computed fastest. */
const TLS13_CIPHER_SUITES = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256'
/** Nearly every server has one of them; a key share of ML-KEM costs more than all the rest. */
const DEFAULT_GROUPS = 'X25519:P-256:P-384:P-521'
/** All that OpenSSL knows; one that this build lacks is passed over. */
const ALL_GROUPS = [
  'X25519:P-256:X448:P-384:P-521:X25519MLKEM768:SecP256r1MLKEM768:SecP384r1MLKEM1024:MLKEM768:MLKEM1024:MLKEM512',
  'ffdhe2048:ffdhe3072:ffdhe4096:ffdhe6144:ffdhe8192:brainpoolP256r1tls13:brainpoolP384r1tls13:brainpoolP512r1tls13',
  'brainpoolP256r1:brainpoolP384r1:brainpoolP512r1:secp256k1:P-224:P-192:sect571r1:sect409r1:sect283r1:sect233r1',
]
  .join(':')
  .replace(/[^:]+/g, '?$&')
/** All but those in which the server does not authenticate itself by a certificate. */
const ALL_CIPHERS = `${TLS13_CIPHER_SUITES}:TLS_AES_128_CCM_SHA256:TLS_AES_128_CCM_8_SHA256:ALL:COMPLEMENTOFALL:!aNULL:!PSK:!SRP`
/** A shorter group of Diffie-Hellman is refused in the usual manner, as Node does. */
const MIN_DH_BITS = 1024
const emptyPeerCertificate = () => ({}) as DetailedPeerCertificate
const WRONG_NAME_ERROR = Object.assign(new Error('the certificate is for other names'), {
  code: 'ERR_TLS_CERT_ALTNAME_INVALID',
})

/**
 * How handshakes are offered. `usual`: as OpenSSL does by default, security level 2, so that the verdict is its own, but with
 * few groups. `http2`: the same for servers that speak HTTP/2 alone. `legacy`: with every group and cipher that OpenSSL still
 * speaks and no protocol over TLS named, for servers that refuse the usual one: those of TLS 1.0 and 1.1, of rare groups.
 */
export type TlsProfile = 'default' | 'http2' | 'legacy'
export type TlsContexts = Readonly<Record<TlsProfile, SecureContext>>

const ALPN_PROTOCOLS: Readonly<Record<TlsProfile, string[] | undefined>> = {
  default: ['http/1.1'],
  http2: ['h2'],
  legacy: undefined,
}

/** `onClosing` is called before the socket gives up its handle, and with it what was shown. */
export type TlsHandshakeOptions = {
  tlsContexts: TlsContexts
  profile: TlsProfile
  onClosing(error: Error | null): void
}

/** Node's own roots (which follow NODE_EXTRA_CA_CERTS) and others in PEM. Costly: made once. */
export function createTlsContexts(roots: readonly string[]): TlsContexts {
  const shared = {
    ca: [...getCACertificates('default'), ...roots],
    secureOptions: constants.SSL_OP_LEGACY_SERVER_CONNECT | constants.SSL_OP_NO_TICKET,
  }
  const standard = createSecureContext({
    ...shared,
    ecdhCurve: DEFAULT_GROUPS,
    ciphers: `${TLS13_CIPHER_SUITES}:DEFAULT@SECLEVEL=2`,
  })
  const ciphers = `${ALL_CIPHERS}@SECLEVEL=0`
  const legacy = createSecureContext({ ...shared, minVersion: 'TLSv1', ecdhCurve: ALL_GROUPS, ciphers })
  return { default: standard, http2: standard, legacy }
}

/**
 * A socket that starts its TLS handshake, for `host` whatever certificate comes, as soon as it is connected. Node would write
 * out the whole chain as an object to compare the name, which costs as much as all of HTTP; OpenSSL compares it itself.
 */
export function startTls(to: VettedEndpoint, host: string, options: TlsHandshakeOptions): TLSSocket {
  const { tlsContexts, profile, onClosing } = options
  const socket: TLSSocket = connect({
    host: to.connectTo ?? to.address,
    port: to.port,
    servername: host,
    secureContext: tlsContexts[profile],
    rejectUnauthorized: false,
    ...(ALPN_PROTOCOLS[profile] && { ALPNProtocols: ALPN_PROTOCOLS[profile] }),
    minDHSize: profile === 'legacy' ? 1 : MIN_DH_BITS,
    checkServerIdentity: () => nameError(peerCertificate(socket, certificateFromSession(socket.getSession())), host),
  })
  socket.getPeerCertificate = emptyPeerCertificate
  const { _destroy } = socket
  socket._destroy = (error, done) => {
    onClosing(error)
    _destroy.call(socket, error, done)
  }
  return socket
}

/** The verdict after a handshake that was done. */
export function certificateAfterHandshake(socket: TLSSocket, profile: TlsProfile): CertificateResult {
  const error = socket.authorized ? null : String(socket.authorizationError)
  return { kind: 'presented', error: error ?? weaknessUnderProfile(socket, profile) }
}

/** The verdict after a handshake that failed: the certificate may have come before that. */
export function certificateAfterFailure(socket: TLSSocket, host: string, profile: TlsProfile): CertificateResult {
  const shown = peerCertificate(socket)
  if (shown === undefined) return { kind: 'none' }
  const error = verifyError(socket) ?? nameError(shown, host)
  return { kind: 'presented', error: error === undefined ? weaknessUnderProfile(socket, profile) : errorCode(error) }
}

/** What security level 2 would have said, where the manner did not have OpenSSL say it. */
function weaknessUnderProfile(socket: TLSSocket, profile: TlsProfile): string | null {
  return profile === 'legacy' ? weakestLinkError(chainOf(socket)) : null
}

/**
 * As RFC 6125 compares: the names of the certificate, or its subject where it has none; a `*` is a whole label. Names that
 * OpenSSL cannot read, at which it throws, are none.
 */
function nameError(shown: X509Certificate | null | undefined, host: string): Error | undefined {
  try {
    return shown?.checkHost(host, { partialWildcards: false }) === undefined ? WRONG_NAME_ERROR : undefined
  } catch {
    return WRONG_NAME_ERROR
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
    while (each?.raw !== undefined && chain.length < MAX_CHAIN_CERTIFICATES) {
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

export function errorCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
