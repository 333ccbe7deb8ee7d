/** HTTP for one visit: requests to vetted addresses, over connections that live no longer than the visit. */

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

/** Receives every response with the address that it came from. */
export type ResponseObserver = {
  recordResponse(address: IpAddress, response: Pick<HttpResponse, 'status' | 'header'>): void
}

/** `endpointsOf`: the endpoints of a host at port 80 or 443. Without `rateLimiter`, connections start at once. */
export type HttpClientOptions = {
  endpointsOf(host: DomainName, port: 80 | 443): Promise<HostEndpoints>
  rateLimiter?: ConnectLimiter
  responseObserver?: ResponseObserver | undefined
  tlsContexts: TlsContexts
  userAgent: string
  limits: WebLimits
}

/** What requests under way hear at the end of the visit; made once, as a stack costs time. */
const CLIENT_CLOSED_ERROR = new ConnectFailedError('no_response')

const UNKNOWN_CERTIFICATE: CertificateResult = { kind: 'unknown' }

/** All connections of one visit. */
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

  /** Asks for an http or https URL on its own port, whose host is a name in its canonical spelling. Never rejects. */
  async get(url: URL): Promise<HttpResponse | ConnectFailure> {
    if (this.#isClosed) return 'no_response'
    const connection = this.#connectionTo(url)
    const reply = await connection.get(url.pathname + url.search, this.#headers)
    const { endpoint } = connection
    if (typeof reply === 'object' && endpoint !== null && !endpoint.isOwn)
      this.#options.responseObserver?.recordResponse(endpoint.address, reply)
    return reply
  }

  /** What port 443 of a host showed to whoever connected to it, otherwise what it shows to a handshake made for that. */
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

  /** Ends all connections; requests that wait for an answer get none. */
  close(): void {
    this.#isClosed = true
    for (const line of this.#connections.values()) line.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** The connection that is kept for this origin; beside one whose body stands still, a second one. */
  #connectionTo(url: URL): OriginConnection {
    const kept = this.#connections.get(url.origin)
    if (kept !== undefined && !kept.hasUnreadBody) return kept
    const key = kept === undefined ? url.origin : `${url.origin} beside`
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

  /** That none was shown says nothing where the end of the visit broke the handshake off. */
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

/** One connection to one origin, made when it is needed and again when the server has ended it. */
class OriginConnection {
  readonly #client: Client
  readonly #limits: WebLimits
  #exchange: HttpExchange | null = null
  #socket: Socket | null = null
  #tlsProfile: 'default' | 'http2' = 'default'
  /** Why it could not be connected to, which is not tried again. */
  #connectFailure: ConnectFailure | null = null
  /** Where it was connected to last. */
  endpoint: VettedEndpoint | null = null

  constructor(origin: string, limits: WebLimits, connect: (tlsProfile: 'default' | 'http2') => Promise<ConnectResult>) {
    this.#limits = limits
    this.#client = new Client(origin, {
      allowH2: true, // where the handshake named it
      pipelining: 1,
      maxHeaderSize: limits.headBytes,
      headersTimeout: 0, // timers of our own, which nothing that the server sends sets back
      bodyTimeout: 0,
      connect: (_, callback) => {
        this.#exchange?.detach()
        connect(this.#tlsProfile).then(({ socket: made, endpoint: door }) => {
          this.endpoint = door
          const socket = typeof made === 'object' && this.#tlsProfile === 'http2' ? requireHttp2(made) : made
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

  /** Whether a body stands in it that somebody is going to read. */
  get hasUnreadBody(): boolean {
    return this.#exchange?.hasUnreadBody ?? false
  }

  /** Asks once more where the connection that was kept turned out to be ending. */
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

  /** A server that names no protocol and does not answer HTTP/1.1 may speak HTTP/2 alone. */
  #mayBeHttp2(): boolean {
    const socket = this.#socket
    return (
      this.#tlsProfile === 'default' && socket !== null && 'alpnProtocol' in socket && socket.alpnProtocol === false
    )
  }

  #send(path: string, headers: Record<string, string>): HttpExchange {
    this.#exchange?.abort() // a body that nobody reads and that has not come whole by now
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
