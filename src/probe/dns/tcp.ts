/** Queries to one server over TCP. Several queries share a persistent connection (RFC 7766). */

import { connect, type Socket } from 'node:net'
import { type DnsQuery, setQueryId } from './message/query.ts'
import { PendingQueries, type RawDnsResponse } from './pending-queries.ts'
import type { DnsServer } from './server.ts'

/** Milliseconds after which an idle connection closes. */
const IDLE_TIMEOUT_MS = 5000
const MAX_QUERIES_PER_CONNECTION = 1000
/** The length prefix of each message. */
const LENGTH_PREFIX_BYTES = 2

export class DnsTcpClient {
  readonly #server: DnsServer
  readonly #connections = new Set<DnsTcpConnection>()
  #current: DnsTcpConnection | null = null
  #isClosed = false

  constructor(server: DnsServer) {
    this.#server = server
  }

  /**
   * Waits for the answer until `deadline`, a time of performance.now(). Never rejects. A server may close a persistent
   * connection at any time, so a lost query is sent a second time.
   */
  async query(dnsQuery: DnsQuery, deadline: number): Promise<RawDnsResponse> {
    const response = await this.#queryOnce(dnsQuery, deadline)
    return response === 'lost' ? this.#queryOnce(dnsQuery, deadline) : response
  }

  close(): void {
    this.#isClosed = true
    for (const connection of this.#connections) connection.end('unreachable')
  }

  #queryOnce(dnsQuery: DnsQuery, deadline: number): Promise<RawDnsResponse> {
    if (this.#isClosed) return Promise.resolve('unreachable')
    if (!this.#current?.isOpen) {
      const connection = new DnsTcpConnection(this.#server, () => this.#connections.delete(connection))
      this.#connections.add(connection)
      this.#current = connection
    }
    return this.#current.send(dnsQuery, deadline)
  }
}

/** One connection. It keeps the pieces of an incomplete message, so that joining them takes linear time. */
class DnsTcpConnection {
  /** Whether it accepts queries. */
  isOpen = true
  readonly #socket: Socket
  readonly #onEnd: () => void
  readonly #pending = new PendingQueries((response) => {
    if (response === 'timeout') this.isOpen = false // it may hang, so the next query uses another connection
    if (!this.isOpen && this.#pending.size === 0) this.end('lost')
  })
  #queriesSent = 0
  #pieces: Buffer[] = []
  #bytes = 0
  /** Bytes of the length prefix and the message that is arriving. */
  #bytesNeeded = LENGTH_PREFIX_BYTES

  constructor({ address, port }: DnsServer, onEnd: () => void) {
    this.#onEnd = onEnd
    this.#socket = connect({ host: address, port, noDelay: true })
    this.#socket.setTimeout(IDLE_TIMEOUT_MS, () => this.#closeWhenIdle())
    this.#socket.on('data', (piece) => this.#receive(piece))
    this.#socket.on('error', ({ code }: NodeJS.ErrnoException) =>
      this.end(isConnectionLoss(code) ? 'lost' : 'unreachable'),
    )
    this.#socket.on('close', () => this.end('lost'))
  }

  send(query: DnsQuery, deadline: number): Promise<RawDnsResponse> {
    if (++this.#queriesSent === MAX_QUERIES_PER_CONNECTION) this.isOpen = false
    const id = this.#pending.freeId()
    const response = this.#pending.add(id, query, deadline - performance.now())
    const { length } = query.bytes
    this.#socket.write(Buffer.concat([Buffer.from([length >> 8, length & 255]), setQueryId(query, id)]))
    return response
  }

  /** Settles all open queries with `response` and closes. */
  end(response: RawDnsResponse): void {
    this.isOpen = false
    this.#socket.destroy()
    this.#onEnd()
    this.#pending.settleAll(response)
  }

  #closeWhenIdle(): void {
    this.isOpen = false
    if (this.#pending.size === 0) this.end('lost')
  }

  #receive(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    while (this.#bytes >= this.#bytesNeeded) {
      const joined = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
      const whole = LENGTH_PREFIX_BYTES + joined.readUInt16BE()
      const isWhole = joined.length >= whole
      if (isWhole) this.#pending.receive(joined.subarray(LENGTH_PREFIX_BYTES, whole))
      const rest = isWhole ? joined.subarray(whole) : joined
      this.#pieces = rest.length > 0 ? [rest] : []
      this.#bytes = rest.length
      this.#bytesNeeded = isWhole ? LENGTH_PREFIX_BYTES : whole
    }
  }
}

function isConnectionLoss(code: string | undefined): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE'
}
