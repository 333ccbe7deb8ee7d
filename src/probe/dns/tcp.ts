/** Questions to one server over TCP, several on one connection that is kept for a while (RFC 7766). */

import { connect, type Socket } from 'node:net'
import { PendingQueries, type RawDnsResponse } from './pending-queries.ts'
import { type DnsQuery, setQueryId } from './query.ts'
import type { DnsServer } from './server.ts'

/** A connection on which nothing passes is kept so many milliseconds. */
const IDLE_TIMEOUT_MS = 5000
/** And is asked so many questions at most. */
const MAX_QUERIES_PER_CONNECTION = 1000
/** The length that stands before each message. */
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
   * Waits for the answer until a moment of performance.now(). Never rejects. A server may close a kept connection at any
   * time, so a question is asked once more where it is lost.
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

/** One connection. What came of a message that is not whole yet is kept as it came, so that joining it is linear. */
class DnsTcpConnection {
  /** Whether it takes questions. */
  isOpen = true
  readonly #socket: Socket
  readonly #onEnd: () => void
  readonly #pending = new PendingQueries((heard) => {
    if (heard === 'timeout') this.isOpen = false // it may hang: the next question gets another
    if (!this.isOpen && this.#pending.size === 0) this.end('lost')
  })
  #queriesSent = 0
  #pieces: Buffer[] = []
  #bytes = 0
  /** Bytes of the prefix and the message that is coming. */
  #bytesNeeded = LENGTH_PREFIX_BYTES

  constructor({ address, port }: DnsServer, ended: () => void) {
    this.#onEnd = ended
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
    const response = this.#pending.add(id, query, deadline)
    const { length } = query.bytes
    this.#socket.write(Buffer.concat([Buffer.from([length >> 8, length & 255]), setQueryId(query, id)]))
    return response
  }

  /** Tells all that wait, and closes. */
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
