/** A connection to one of the vetted addresses of a host, by TCP or TLS. */

import { connect, type Socket } from 'node:net'
import type { ProbeRateLimiter } from '../policy/probe-rate-limiter.ts'
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

/** Why there is no answer: the server's side (`no_response`), or a reason of ours (`not_allowed`). */
export type ConnectFailure = 'no_response' | 'not_allowed'

/** Where a host may be connected to, in the order of trying. `barred`: it has addresses that we do not try. */
export type HostEndpoints = { endpoints: readonly VettedEndpoint[]; hasUnreachable: boolean }

/** `certificate` is null for plain TCP, `door` where no connection came about. */
export type ConnectResult = {
  socket: Socket | ConnectFailure
  certificate: CertificateResult | null
  endpoint: VettedEndpoint | null
}

/** `host`: the name for SNI; `trust`: null for plain TCP. `opened` hears of every socket at once, to end it with the visit. */
export type ConnectOptions = {
  host: string
  tlsContexts: TlsContexts | null
  /** `http2`: for a server that is known to speak nothing else; there is no second handshake then. */
  tlsProfile?: 'default' | 'http2'
  limits: WebLimits
  /** None: nobody has to wait. */
  rateLimiter?: ProbeRateLimiter | undefined
  onSocket(socket: Socket): void
}

/**
 * How one attempt went: `local_error` and `remote_error` never came to a TCP connection. `failed`: a handshake, and what was shown before;
 * `final`: another manner would not help, as time ran out, or the server turned us away after it had shown its certificate.
 */
type ConnectAttempt = EstablishedConnection | FailedHandshake | 'local_error' | 'remote_error'
type FailedHandshake = { certificate: CertificateResult; isFinal: boolean; nextProfile: TlsProfile }
type EstablishedConnection = { socket: Socket; certificate: CertificateResult | null }

/** Errors of this machine: no route, no address of that family, no file or port left, forbidden here. */
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

const TIMEOUT_ERROR = new Error('no time is left')

/** The server speaks none of the protocols that were named (RFC 7301, chapter 3.2). */
const NO_ALPN_ERROR_CODE = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'

/** Tries one address after the other, each in its turn, until TCP connects; a handshake that fails there is the host's answer. */
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

/** A handshake that failed is offered once more in another manner; the verdict is the first one that there was. */
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
    const ending = (error: Error | null) => fail(error)
    const tls =
      tlsContexts === null ? null : startTls(endpoint, host, { tlsContexts, profile: tlsProfile, onClosing: ending })
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
  const turnedAway = failed.kind === 'presented' && code.includes('ALERT') && code !== NO_ALPN_ERROR_CODE
  return {
    certificate: failed,
    isFinal: error === TIMEOUT_ERROR || turnedAway,
    nextProfile: code === NO_ALPN_ERROR_CODE ? 'http2' : 'legacy',
  }
}

/** The verdict on the certificate of a host by a handshake alone. */
export async function fetchCertificate(
  hostEndpoints: HostEndpoints,
  options: ConnectOptions & { tlsContexts: TlsContexts },
): Promise<CertificateResult> {
  const { socket, certificate } = await connectToHost(hostEndpoints, options)
  if (typeof socket === 'object') socket.destroy()
  return certificate ?? { kind: 'unknown' }
}
