/** HTTP for one visit: requests to vetted addresses, over connections that live no longer than the visit. */

import type { Socket } from 'node:net'
import { Client } from 'undici'
import type { Name } from '../words/name.ts'
import { ACCEPTED } from './http-body.ts'
import { type Dialled, dial, handshake, type Miss, type Reach } from './http-dial.ts'
import { Exchange, Missed, type Reply } from './http-exchange.ts'
import type { VisitRests } from './rests.ts'
import type { Trust } from './tls.ts'
import type { Turns } from './turns.ts'
import type { Certificate, Vetted } from './visit.ts'
import type { WebLimits } from './web-limits.ts'

/** `reach`: where a host may be connected to by port 80 or 443. Without `turns` and `rests` nobody is waited for. */
export type HttpOptions = {
  reach(host: Name, port: 80 | 443): Promise<Reach>
  turns?: Turns
  rests?: VisitRests | undefined
  trust: Trust
  userAgent: string
  limits: WebLimits
}

/** What requests under way hear at the end of the visit; made once, as a stack costs time. */
const GONE = new Missed('silent')

const UNSEEN: Certificate = { kind: 'unseen' }

/** All connections of one visit. */
export class Http {
  readonly #options: HttpOptions
  readonly #headers: Record<string, string>
  readonly #lines = new Map<string, Line>()
  readonly #sockets: Socket[] = []
  readonly #certificates = new Map<Name, Certificate>()
  #closed = false

  constructor(options: HttpOptions) {
    this.#options = options
    this.#headers = {
      'user-agent': options.userAgent,
      accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1',
      'accept-encoding': ACCEPTED,
    }
  }

  /** Asks for an http or https URL on its own port, whose host is a name in its canonical spelling. Never rejects. */
  async get(url: URL): Promise<Reply | Miss> {
    if (this.#closed) return 'silent'
    const line = this.#lineTo(url)
    const reply = await line.get(url.pathname + url.search, this.#headers)
    const { door } = line
    if (typeof reply === 'object' && door !== null && !door.own) this.#options.rests?.heard(door.address, reply)
    return reply
  }

  /** What port 443 of a host showed to whoever connected to it, otherwise what it shows to a handshake made for that. */
  async certificate(host: Name): Promise<Certificate> {
    const seen = this.#certificates.get(host)
    if (seen !== undefined) return seen
    if (this.#closed) return UNSEEN
    return this.#certain(
      await handshake(await this.#options.reach(host, 443), this.#dialing(host, this.#options.trust)),
    )
  }

  /** Ends all connections; requests that wait for an answer get none. */
  close(): void {
    this.#closed = true
    for (const line of this.#lines.values()) line.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** The connection that is kept for this origin; beside one whose body stands still, a second one. */
  #lineTo(url: URL): Line {
    const kept = this.#lines.get(url.origin)
    if (kept !== undefined && !kept.held) return kept
    const key = kept === undefined ? url.origin : `${url.origin} beside`
    const line = this.#lines.get(key) ?? this.#openLine(url)
    this.#lines.set(key, line)
    return line
  }

  #openLine(url: URL): Line {
    const host = url.hostname as Name
    const secure = url.protocol === 'https:'
    const dialing = this.#dialing(host, secure ? this.#options.trust : null)
    return new Line(url.origin, this.#options.limits, async (manner) => {
      const dialled = await dial(await this.#options.reach(host, secure ? 443 : 80), { ...dialing, manner })
      const { certificate } = dialled
      if (certificate !== null && this.#certificates.get(host)?.kind !== 'shown')
        this.#certificates.set(host, this.#certain(certificate))
      return dialled
    })
  }

  /** That none was shown says nothing where the end of the visit broke the handshake off. */
  #certain(certificate: Certificate): Certificate {
    return this.#closed && certificate.kind === 'none' ? UNSEEN : certificate
  }

  #dialing<T extends Trust | null>(host: Name, trust: T) {
    const opened = (socket: Socket): void => {
      if (this.#closed) socket.destroy()
      this.#sockets.push(socket)
    }
    return { host, trust, limits: this.#options.limits, turns: this.#options.turns, opened }
  }
}

/** One connection to one origin, made when it is needed and again when the server has ended it. */
class Line {
  readonly #client: Client
  readonly #limits: WebLimits
  #exchange: Exchange | null = null
  #socket: Socket | null = null
  #manner: 'usual' | 'http2' = 'usual'
  /** Why it could not be connected to, which is not tried again. */
  #miss: Miss | null = null
  /** Where it was connected to last. */
  door: Vetted | null = null

  constructor(origin: string, limits: WebLimits, connect: (manner: 'usual' | 'http2') => Promise<Dialled>) {
    this.#limits = limits
    this.#client = new Client(origin, {
      allowH2: true, // where the handshake named it
      pipelining: 1,
      maxHeaderSize: limits.headBytes,
      headersTimeout: 0, // timers of our own, which nothing that the server sends sets back
      bodyTimeout: 0,
      connect: (_, callback) => {
        this.#exchange?.reconnect()
        connect(this.#manner).then(({ socket: made, door }) => {
          this.door = door
          const socket = typeof made === 'object' && this.#manner === 'http2' ? ofHttp2(made) : made
          if (typeof socket === 'object') {
            this.#attend(socket)
            callback(null, socket)
          } else {
            this.#miss = socket
            callback(new Missed(socket), null)
          }
        })
      },
    })
  }

  /** Whether a body stands in it that somebody is going to read. */
  get held(): boolean {
    return this.#exchange?.held ?? false
  }

  /** Asks once more where the connection that was kept turned out to be ending. */
  async get(path: string, headers: Record<string, string>): Promise<Reply | Miss> {
    if (this.#miss !== null) return this.#miss
    const exchange = this.#send(path, headers)
    const answer = await exchange.answer
    if (this.#miss === null && exchange.lost) return this.#send(path, headers).answer
    if (this.#miss !== null || !exchange.broken || !this.#mayBeHttp2()) return answer
    this.#manner = 'http2'
    this.#socket = null
    return this.#send(path, headers).answer
  }

  /** A server that names no protocol and does not answer HTTP/1.1 may speak HTTP/2 alone. */
  #mayBeHttp2(): boolean {
    const socket = this.#socket
    return this.#manner === 'usual' && socket !== null && 'alpnProtocol' in socket && socket.alpnProtocol === false
  }

  #send(path: string, headers: Record<string, string>): Exchange {
    this.#exchange?.cut() // a body that nobody reads and that has not come whole by now
    const exchange = new Exchange(this.#limits)
    this.#exchange = exchange
    if (this.#socket !== null) exchange.begin(this.#socket, true)
    this.#client.dispatch({ method: 'GET', path, headers }, exchange)
    return exchange
  }

  close(): void {
    this.#client.destroy(GONE)
  }

  #attend(socket: Socket): void {
    this.#socket = socket
    this.#exchange?.begin(socket, false)
    socket.on('readable', () => this.#exchange?.watch())
  }
}

/** The socket, if the server agreed to HTTP/2. */
function ofHttp2(socket: Socket): Socket | Miss {
  if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') return socket
  socket.destroy()
  return 'silent'
}
