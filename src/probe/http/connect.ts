/** A connection to one of the vetted addresses of a host, over TCP or TLS. */

import { connect, type Socket } from 'node:net'
import type { IpAddress } from '../../values/ip-address.ts'
import type { CertificateResult, VettedEndpoint } from '../probe-result.ts'
import { setStallTolerantTimeout } from '../stall-timer.ts'
import {
  certificateAfterFailure,
  certificateAfterHandshake,
  errorCode,
  startTls,
  type TlsContexts,
  type TlsProfile,
} from '../tls/handshake.ts'
import type { WebLimits } from './limits.ts'

/** Why there is no response. `no_response`: the server did not respond. `not_allowed`: a local reason. */
export type ConnectFailure = 'no_response' | 'not_allowed'

/** The endpoints of a host, in the order of attempts. `hasUnreachable`: the host has addresses that are not tried. */
export type HostEndpoints = { endpoints: readonly VettedEndpoint[]; hasUnreachable: boolean }

/** `certificate` is null for plain TCP. `endpoint` is null if no connection was established. */
export type ConnectResult = {
  socket: Socket | ConnectFailure
  certificate: CertificateResult | null
  endpoint: VettedEndpoint | null
}

/** Delays connections to addresses. */
export type ConnectLimiter = {
  /** The endpoints by ascending wait. */
  sortByWait(endpoints: readonly VettedEndpoint[]): readonly VettedEndpoint[]
  /** Waits for a slot. False if the wait is too long. */
  acquire(endpoint: VettedEndpoint): Promise<boolean>
  /** The first address with a wait that was too long. */
  deferredAt: IpAddress | null
}

/**
 * `host`: the name for SNI; `tlsContexts`: null for plain TCP. `onSocket` receives every socket at once, so that the
 * probe can close it.
 */
type ConnectOptions = {
  host: string
  tlsContexts: TlsContexts | null
  /** `http2`: for a server that supports nothing else. There is no second handshake then. */
  tlsProfile?: 'default' | 'http2'
  limits: WebLimits
  /** If undefined, connections start at once. */
  rateLimiter?: ConnectLimiter | undefined
  onSocket(socket: Socket): void
}

/**
 * The outcome of one attempt. `local_error` and `remote_error`: no TCP connection. A failed handshake has the
 * certificate received before. `isFinal`: another profile would not help, because time ran out or the server rejected
 * the client after its certificate.
 */
type ConnectAttempt = EstablishedConnection | FailedHandshake | 'local_error' | 'remote_error'
type FailedHandshake = { certificate: CertificateResult; isFinal: boolean; nextProfile: TlsProfile }
type EstablishedConnection = { socket: Socket; certificate: CertificateResult | null }

/** Errors of this machine: no route, no address of that family, no file descriptor or port left, forbidden. */
const LOCAL_ERROR_CODES = new Set([
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'EACCES',
  'EPERM',
])

const TIMEOUT_ERROR = new Error('timed out')

/** The server supports none of the offered protocols (RFC 7301, section 3.2). */
const NO_ALPN_ERROR_CODE = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'

/**
 * Tries one address after another, each after its rate limit, until TCP connects. A handshake that fails there is the
 * result of the host.
 */
export async function connectToHost(hostEndpoints: HostEndpoints, options: ConnectOptions): Promise<ConnectResult> {
  const { tlsContexts, rateLimiter, tlsProfile = 'default' } = options
  let { hasUnreachable } = hostEndpoints
  let deferred: VettedEndpoint | null = null
  for (const endpoint of rateLimiter?.sortByWait(hostEndpoints.endpoints) ?? hostEndpoints.endpoints) {
    if (rateLimiter !== undefined && !(await rateLimiter.acquire(endpoint))) {
      deferred ??= endpoint
      continue
    }
    const attempt = await connectOnce(endpoint, tlsProfile, options)
    if (typeof attempt === 'object')
      return 'isFinal' in attempt ? await retryHandshake(endpoint, attempt, options) : { ...attempt, endpoint }
    if (attempt === 'local_error') hasUnreachable = true
  }
  if (rateLimiter !== undefined && deferred !== null) rateLimiter.deferredAt ??= deferred.address
  hasUnreachable ||= deferred !== null
  const certificate: CertificateResult = { kind: hasUnreachable ? 'unknown' : 'none' }
  return {
    socket: hasUnreachable ? 'not_allowed' : 'no_response',
    certificate: tlsContexts === null ? null : certificate,
    endpoint: null,
  }
}

/** Retries a failed handshake once with another profile. The first verdict on a certificate counts. */
async function retryHandshake(
  endpoint: VettedEndpoint,
  first: FailedHandshake,
  options: ConnectOptions,
): Promise<ConnectResult> {
  const isLast = first.isFinal || options.tlsProfile === 'http2'
  const second = isLast ? null : await connectOnce(endpoint, first.nextProfile, options)
  const last = typeof second === 'object' ? second : null
  const { socket, certificate } =
    last !== null && 'socket' in last ? last : connectFailure(last?.certificate ?? first.certificate)
  return { socket, certificate: first.certificate.kind === 'presented' ? first.certificate : certificate, endpoint }
}

function connectFailure(certificate: CertificateResult): Pick<ConnectResult, 'socket' | 'certificate'> {
  return { socket: 'no_response', certificate }
}

function connectOnce(
  endpoint: VettedEndpoint,
  tlsProfile: TlsProfile,
  { host, tlsContexts, limits, onSocket }: ConnectOptions,
): Promise<ConnectAttempt> {
  return new Promise((resolve) => {
    const onClosing = (error: Error | null) => fail(error)
    const tls = tlsContexts === null ? null : startTls(endpoint, host, { tlsContexts, profile: tlsProfile, onClosing })
    const socket = tls ?? connect({ host: endpoint.connectTo ?? endpoint.address, port: endpoint.port })
    onSocket(socket)
    let connected = false
    let settled = false
    let cancelTimeout = setStallTolerantTimeout(limits.connectMs, () => fail(TIMEOUT_ERROR))
    const finish = (attempt: ConnectAttempt): void => {
      cancelTimeout()
      settled = true
      resolve(attempt)
    }
    const fail = (error: Error | null): void => {
      if (settled) return
      if (connected && tls !== null) finish(handshakeFailure(certificateAfterFailure(tls, host, tlsProfile), error))
      else finish(error !== null && LOCAL_ERROR_CODES.has(errorCode(error)) ? 'local_error' : 'remote_error')
      socket.destroy()
    }
    socket.setNoDelay(true)
    socket.on('error', fail)
    socket.once('close', () => fail(null))
    socket.once('connect', () => {
      connected = true
      if (tls === null) return finish({ socket, certificate: null })
      cancelTimeout()
      cancelTimeout = setStallTolerantTimeout(limits.handshakeMs, () => fail(TIMEOUT_ERROR))
    })
    tls?.once('secureConnect', () => finish({ socket: tls, certificate: certificateAfterHandshake(tls, tlsProfile) }))
  })
}

function handshakeFailure(failed: CertificateResult, error: Error | null): FailedHandshake {
  const code = error === null ? '' : errorCode(error)
  const isRejected = failed.kind === 'presented' && code.includes('ALERT') && code !== NO_ALPN_ERROR_CODE
  return {
    certificate: failed,
    isFinal: error === TIMEOUT_ERROR || isRejected,
    nextProfile: code === NO_ALPN_ERROR_CODE ? 'http2' : 'legacy',
  }
}

/** Makes a handshake only to check the certificate of a host. */
export async function fetchCertificate(
  hostEndpoints: HostEndpoints,
  options: ConnectOptions & { tlsContexts: TlsContexts },
): Promise<CertificateResult> {
  const { socket, certificate } = await connectToHost(hostEndpoints, options)
  if (typeof socket === 'object') socket.destroy()
  return certificate ?? { kind: 'unknown' }
}
