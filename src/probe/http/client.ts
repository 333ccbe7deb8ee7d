/** The HTTP client of one probe: requests to vetted addresses. Its connections end with the probe. */

import type { Socket } from 'node:net'
import { Client } from 'undici'
import type { DomainName } from '../../values/domain-name.ts'
import type { IpAddress } from '../../values/ip-address.ts'
import type { CertificateResult, VettedEndpoint } from '../probe-result.ts'
import type { TlsContexts } from '../tls/handshake.ts'
import { ACCEPT_ENCODING } from './body.ts'
import {
  type ConnectFailure,
  type ConnectLimiter,
  type ConnectResult,
  connectToHost,
  fetchCertificate,
  type HostEndpoints,
} from './connect.ts'
import { ConnectFailedError, HttpExchange, type HttpResponse } from './exchange.ts'
import type { WebLimits } from './limits.ts'

/** Receives every response with the address that sent it. */
type ResponseObserver = {
  recordResponse(address: IpAddress, response: Pick<HttpResponse, 'status' | 'header'>): void
}

/** `endpointsOf`: the endpoints of a host at port 80 or 443. Without `rateLimiter`, connections start at once. */
type HttpClientOptions = {
  endpointsOf(host: DomainName, port: 80 | 443): Promise<HostEndpoints>
  rateLimiter?: ConnectLimiter
  responseObserver?: ResponseObserver | undefined
  tlsContexts: TlsContexts
  userAgent: string
  limits: WebLimits
}

/** The error of open requests when the client closes. It exists once, because creating a stack trace takes time. */
const CLIENT_CLOSED_ERROR = new ConnectFailedError('no_response')

const UNKNOWN_CERTIFICATE: CertificateResult = { kind: 'unknown' }

/** All connections of one probe. */
export class HttpClient {
  readonly #options: HttpClientOptions
  readonly #headers: Record<string, string>
  readonly #connections = new Map<string, OriginConnection>()
  readonly #sockets: Socket[] = []
  readonly #certificates = new Map<DomainName, CertificateResult>()
  #isClosed = false

  constructor(options: HttpClientOptions) {
    this.#options = options
    this.#headers = {
      'user-agent': options.userAgent,
      accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1',
      'accept-encoding': ACCEPT_ENCODING,
    }
  }

  /** Requests an http or https URL on its default port, with a canonical host name. Never rejects. */
  async get(url: URL): Promise<HttpResponse | ConnectFailure> {
    if (this.#isClosed) return 'no_response'
    const connection = this.#connectionTo(url)
    const reply = await connection.get(url.pathname + url.search, this.#headers)
    const { endpoint } = connection
    if (typeof reply === 'object' && endpoint !== null && !endpoint.isOwn)
      this.#options.responseObserver?.recordResponse(endpoint.address, reply)
    return reply
  }

  /** The certificate that port 443 of a host presented earlier. Otherwise makes a handshake to get it. */
  async certificate(host: DomainName): Promise<CertificateResult> {
    const known = this.#certificates.get(host)
    if (known !== undefined) return known
    if (this.#isClosed) return UNKNOWN_CERTIFICATE
    return this.#unlessClosed(
      await fetchCertificate(
        await this.#options.endpointsOf(host, 443),
        this.#connectOptions(host, this.#options.tlsContexts),
      ),
    )
  }

  /** Closes all connections. Open requests get no response. */
  close(): void {
    this.#isClosed = true
    for (const connection of this.#connections.values()) connection.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** The persistent connection of this origin, or a second one if its body is paused. */
  #connectionTo(url: URL): OriginConnection {
    const current = this.#connections.get(url.origin)
    if (current !== undefined && !current.hasUnreadBody) return current
    const key = current === undefined ? url.origin : `${url.origin} second`
    const connection = this.#connections.get(key) ?? this.#openConnection(url)
    this.#connections.set(key, connection)
    return connection
  }

  #openConnection(url: URL): OriginConnection {
    const host = url.hostname as DomainName
    const secure = url.protocol === 'https:'
    const connectOptions = this.#connectOptions(host, secure ? this.#options.tlsContexts : null)
    return new OriginConnection(url.origin, this.#options.limits, async (tlsProfile) => {
      const connected = await connectToHost(await this.#options.endpointsOf(host, secure ? 443 : 80), {
        ...connectOptions,
        tlsProfile,
      })
      const { certificate } = connected
      if (certificate !== null && this.#certificates.get(host)?.kind !== 'presented')
        this.#certificates.set(host, this.#unlessClosed(certificate))
      return connected
    })
  }

  /** If the client closed during the handshake, a missing certificate means nothing. */
  #unlessClosed(certificate: CertificateResult): CertificateResult {
    return this.#isClosed && certificate.kind === 'none' ? UNKNOWN_CERTIFICATE : certificate
  }

  #connectOptions<T extends TlsContexts | null>(host: DomainName, tlsContexts: T) {
    const onSocket = (socket: Socket): void => {
      if (this.#isClosed) socket.destroy()
      this.#sockets.push(socket)
    }
    return { host, tlsContexts, limits: this.#options.limits, rateLimiter: this.#options.rateLimiter, onSocket }
  }
}

/** One connection to one origin. It opens on demand, and again if the server closed it. */
class OriginConnection {
  readonly #client: Client
  readonly #limits: WebLimits
  #exchange: HttpExchange | null = null
  #socket: Socket | null = null
  #tlsProfile: 'default' | 'http2' = 'default'
  /** Why the connection failed. It is not tried again. */
  #connectFailure: ConnectFailure | null = null
  /** The endpoint of the last connection. */
  endpoint: VettedEndpoint | null = null

  constructor(origin: string, limits: WebLimits, connect: (tlsProfile: 'default' | 'http2') => Promise<ConnectResult>) {
    this.#limits = limits
    this.#client = new Client(origin, {
      allowH2: true, // if ALPN selects it
      pipelining: 1,
      maxHeaderSize: limits.headBytes,
      headersTimeout: 0, // this project's own timers apply, which data from the server does not reset
      bodyTimeout: 0,
      connect: (_, callback) => {
        this.#exchange?.detach()
        connect(this.#tlsProfile).then(({ socket: connected, endpoint }) => {
          this.endpoint = endpoint
          const socket =
            typeof connected === 'object' && this.#tlsProfile === 'http2' ? requireHttp2(connected) : connected
          if (typeof socket === 'object') {
            this.#attach(socket)
            callback(null, socket)
          } else {
            this.#connectFailure = socket
            callback(new ConnectFailedError(socket), null)
          }
        })
      },
    })
  }

  /** Whether the connection has a body that will be read. */
  get hasUnreadBody(): boolean {
    return this.#exchange?.hasUnreadBody ?? false
  }

  /** Sends the request again if the persistent connection was already closing. */
  async get(path: string, headers: Record<string, string>): Promise<HttpResponse | ConnectFailure> {
    if (this.#connectFailure !== null) return this.#connectFailure
    const exchange = this.#send(path, headers)
    const answer = await exchange.response
    if (this.#connectFailure === null && exchange.isLost) return this.#send(path, headers).response
    if (this.#connectFailure !== null || !exchange.isBroken || !this.#mayBeHttp2()) return answer
    this.#tlsProfile = 'http2'
    this.#socket = null
    return this.#send(path, headers).response
  }

  /** A server without ALPN that does not answer HTTP/1.1 may speak only HTTP/2. */
  #mayBeHttp2(): boolean {
    const socket = this.#socket
    return (
      this.#tlsProfile === 'default' && socket !== null && 'alpnProtocol' in socket && socket.alpnProtocol === false
    )
  }

  #send(path: string, headers: Record<string, string>): HttpExchange {
    this.#exchange?.abort() // an unread body that is still incomplete
    const exchange = new HttpExchange(this.#limits)
    this.#exchange = exchange
    if (this.#socket !== null) exchange.attach(this.#socket, true)
    this.#client.dispatch({ method: 'GET', path, headers }, exchange)
    return exchange
  }

  close(): void {
    this.#client.destroy(CLIENT_CLOSED_ERROR)
  }

  #attach(socket: Socket): void {
    this.#socket = socket
    this.#exchange?.attach(socket, false)
    socket.on('readable', () => this.#exchange?.checkBytesRead())
  }
}

/** The socket, if the server agreed to HTTP/2. */
function requireHttp2(socket: Socket): Socket | ConnectFailure {
  if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') return socket
  socket.destroy()
  return 'no_response'
}
