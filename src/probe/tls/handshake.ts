/**
 * TLS handshakes: the trusted roots, the validation of a certificate, and reading it from a session
 * (d2i_SSL_SESSION(3)).
 */

import { constants, type KeyObject, X509Certificate } from 'node:crypto'
import {
  connect,
  createSecureContext,
  type DetailedPeerCertificate,
  getCACertificates,
  type SecureContext,
  TLSSocket,
} from 'node:tls'
import type { CertificateResult, VettedEndpoint } from '../probe-result.ts'

const DER_SEQUENCE = 0x30
const DER_TWO_BYTE_LENGTH = 0x82
const DER_HEADER_BYTES = 4

/** Node may write a prefix: its own marker and the server's name. */
const MAX_PREFIX_BYTES = 512

/** The tag of the certificate's field: EXPLICIT 3. */
const PEER_CERTIFICATE_TAG = 0xa3

/** Bits of security that level 2 requires of a key. */
const MIN_SECURITY_BITS = 112
const MIN_DSA_BITS = { modulus: 2048, divisor: 224 }
const WEAK_DIGEST = /md[245]|sha-?1(?!\d)/i

const MAX_CHAIN_CERTIFICATES = 16
/** Of TLS 1.3, in the order of browsers. The first one is the fastest. */
const TLS13_CIPHER_SUITES = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256'
/** Nearly every server supports one of them. An ML-KEM key share costs more than all others together. */
const DEFAULT_GROUPS = 'X25519:P-256:P-384:P-521'
/** All groups of OpenSSL. OpenSSL skips a group that this build lacks. */
const ALL_GROUPS = [
  'X25519:P-256:X448:P-384:P-521:X25519MLKEM768:SecP256r1MLKEM768:SecP384r1MLKEM1024:MLKEM768:MLKEM1024:MLKEM512',
  'ffdhe2048:ffdhe3072:ffdhe4096:ffdhe6144:ffdhe8192:brainpoolP256r1tls13:brainpoolP384r1tls13:brainpoolP512r1tls13',
  'brainpoolP256r1:brainpoolP384r1:brainpoolP512r1:secp256k1:P-224:P-192:sect571r1:sect409r1:sect283r1:sect233r1',
]
  .join(':')
  .replace(/[^:]+/g, '?$&')
/** All ciphers except those without a server certificate. */
const ALL_CIPHERS = `${TLS13_CIPHER_SUITES}:TLS_AES_128_CCM_SHA256:TLS_AES_128_CCM_8_SHA256:ALL:COMPLEMENTOFALL:!aNULL:!PSK:!SRP`
/** The default profile rejects a shorter Diffie-Hellman group, as Node does. */
const MIN_DH_BITS = 1024
const emptyPeerCertificate = () => ({}) as DetailedPeerCertificate
const WRONG_NAME_ERROR = Object.assign(new Error('the certificate is for other names'), {
  code: 'ERR_TLS_CERT_ALTNAME_INVALID',
})

/**
 * `default`: OpenSSL's defaults at security level 2, so that the verdict is OpenSSL's own, but with few groups.
 * `http2`: the same for servers that speak only HTTP/2. `legacy`: all groups and ciphers that OpenSSL still supports,
 * without ALPN. It is for servers that reject the default profile: TLS 1.0 and 1.1, or rare groups.
 */
export type TlsProfile = 'default' | 'http2' | 'legacy'
export type TlsContexts = Readonly<Record<TlsProfile, SecureContext>>

const ALPN_PROTOCOLS: Readonly<Record<TlsProfile, string[] | undefined>> = {
  default: ['http/1.1'],
  http2: ['h2'],
  legacy: undefined,
}

/** `onClosing` is called before the socket releases its handle and the peer certificate with it. */
type TlsHandshakeOptions = {
  tlsContexts: TlsContexts
  profile: TlsProfile
  onClosing(error: Error | null): void
}

/** Uses Node's roots (which follow NODE_EXTRA_CA_CERTS) and others in PEM. Costly, so call it once. */
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
 * Opens a socket that starts its TLS handshake for `host` when it is connected, and accepts any certificate. To compare
 * the name, Node would convert the whole chain to an object, which costs as much as all of HTTP. So OpenSSL compares
 * the name.
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

/** The verdict on the certificate after a completed handshake. */
export function certificateAfterHandshake(socket: TLSSocket, profile: TlsProfile): CertificateResult {
  const error = socket.authorized ? null : String(socket.authorizationError)
  const bytes = certificateFromSession(socket.getSession()) ?? rawCertificate(socket)
  return presented(error ?? weaknessUnderProfile(socket, profile), bytes)
}

/** Copies the bytes, which are a part of something larger. */
function presented(error: string | null, bytes: Uint8Array | undefined): CertificateResult {
  return { kind: 'presented', error, ...(bytes && { der: Buffer.from(bytes) }) }
}

/** The verdict after a failed handshake. The server may have sent its certificate before the failure. */
export function certificateAfterFailure(socket: TLSSocket, host: string, profile: TlsProfile): CertificateResult {
  const certificate = peerCertificate(socket)
  if (certificate === undefined) return { kind: 'none' }
  const error = verifyError(socket) ?? nameError(certificate, host)
  const code = error === undefined ? weaknessUnderProfile(socket, profile) : errorCode(error)
  return presented(code, certificate?.raw)
}

/** The weakness that security level 2 would report, if the profile disabled that check. */
function weaknessUnderProfile(socket: TLSSocket, profile: TlsProfile): string | null {
  return profile === 'legacy' ? weakestLinkError(chainOf(socket)) : null
}

/**
 * Compares as RFC 6125: the names of the certificate, or its subject if it has none. A `*` is a whole label. Names that
 * OpenSSL cannot read, so that it throws, do not match.
 */
function nameError(certificate: X509Certificate | null | undefined, host: string): Error | undefined {
  try {
    return certificate?.checkHost(host, { partialWildcards: false }) === undefined ? WRONG_NAME_ERROR : undefined
  } catch {
    return WRONG_NAME_ERROR
  }
}

/**
 * Returns undefined if the server sent no certificate, and null if it is unreadable. Parses its bytes, because
 * getPeerX509Certificate (Node 24) leaks 5 KB per connection. After a completed handshake it uses the bytes in the
 * session if found, because Node otherwise converts every field.
 */
function peerCertificate(socket: TLSSocket, known: Buffer | null = null): X509Certificate | null | undefined {
  try {
    const raw = known ?? TLSSocket.prototype.getPeerCertificate.call(socket)?.raw
    return raw === undefined ? undefined : new X509Certificate(raw)
  } catch {
    return null
  }
}

/** The bytes of the certificate after a completed handshake, if OpenSSL has them. */
function rawCertificate(socket: TLSSocket): Uint8Array | undefined {
  try {
    return TLSSocket.prototype.getPeerCertificate.call(socket)?.raw
  } catch {
    return undefined
  }
}

/** The readable certificates of the chain, up to the root if it is known. */
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

/** OpenSSL's verdict on the chain. Node has no public API for it before the handshake completes. */
function verifyError(socket: TLSSocket & { ssl?: { verifyError?(): Error | null | undefined } | null }) {
  return socket.ssl?.verifyError?.() ?? undefined
}

export function errorCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}

/**
 * OpenSSL's code for the first weakness, from the site's certificate upwards. Returns null if there is none. A root's
 * own signature does not count. A key or name that OpenSSL cannot read is weak.
 */
function weakestLinkError(chain: readonly X509Certificate[]): string | null {
  for (const [depth, certificate] of chain.entries()) {
    try {
      if (isKeyTooShort(certificate.publicKey)) return depth === 0 ? 'EE_KEY_TOO_SMALL' : 'CA_KEY_TOO_SMALL'
      const isRoot = certificate.subject === certificate.issuer
      if (!isRoot && WEAK_DIGEST.test(certificate.signatureAlgorithm ?? '')) return 'CA_MD_TOO_WEAK'
    } catch {
      return 'CERT_REJECTED'
    }
  }
  return null
}

function isKeyTooShort({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  const { modulusLength, divisorLength, namedCurve = '' } = asymmetricKeyDetails ?? {}
  if (asymmetricKeyType === 'ec')
    return Number(/\d{3}/.exec(namedCurve)?.[0] ?? 2 * MIN_SECURITY_BITS) < 2 * MIN_SECURITY_BITS
  if (modulusLength === undefined) return false
  if (asymmetricKeyType !== 'dsa') return rsaSecurityBits(modulusLength) < MIN_SECURITY_BITS
  return modulusLength < MIN_DSA_BITS.modulus || (divisorLength ?? 0) < MIN_DSA_BITS.divisor
}

/**
 * The bits of security of an RSA key as OpenSSL computes them: the estimate of NIST SP 800-56B, appendix D, rounded to
 * eight. So a key slightly shorter than 2,048 bits has 112 as well.
 */
function rsaSecurityBits(modulusLength: number): number {
  const digits = modulusLength * Math.LN2
  const estimate = (1.923 * Math.cbrt(digits) * Math.cbrt(Math.log(digits)) ** 2 - 4.69) / Math.LN2
  return 8 * Math.floor((estimate + 4) / 8)
}

/** The bytes of the certificate. Returns null if they are not found. */
export function certificateFromSession(session: Buffer | undefined): Buffer | null {
  if (session === undefined) return null
  let at = firstFieldOffset(session)
  while (at < session.length - DER_HEADER_BYTES) {
    const field = derFieldAt(session, at)
    if (session[at] === PEER_CERTIFICATE_TAG) return session.subarray(field.from, field.end)
    at = field.end
  }
  return null
}

/**
 * The offset of the first field, inside the sequence that ends with the session. Returns the session's length if there
 * is none.
 */
function firstFieldOffset(session: Buffer): number {
  for (let at = 0; at < Math.min(MAX_PREFIX_BYTES, session.length - DER_HEADER_BYTES); at++) {
    const isSequence = session[at] === DER_SEQUENCE && session[at + 1] === DER_TWO_BYTE_LENGTH
    if (isSequence && at + DER_HEADER_BYTES + session.readUInt16BE(at + 2) === session.length)
      return at + DER_HEADER_BYTES
  }
  return session.length
}

/** The content of the field at `at` (X.690, section 8.1.3). At least DER_HEADER_BYTES must remain. */
function derFieldAt(session: Buffer, at: number): { from: number; end: number } {
  const first = session[at + 1]!
  if (first < 0x80) return { from: at + 2, end: at + 2 + first }
  const from = at + (first === DER_TWO_BYTE_LENGTH ? DER_HEADER_BYTES : 3)
  const length = first === DER_TWO_BYTE_LENGTH ? session.readUInt16BE(at + 2) : session[at + 2]!
  return first > DER_TWO_BYTE_LENGTH ? { from, end: session.length } : { from, end: from + length }
}
