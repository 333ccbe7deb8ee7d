/** Questions to one server over TCP, several on one connection that is kept for a while (RFC 7766). */

import { connect, type Socket } from 'node:net'
import { type Query, setId } from './dns-query.ts'
import type { Server } from './dns-server.ts'
import { type Heard, Waiting } from './dns-waiting.ts'

/** A connection on which nothing passes is kept so many milliseconds. */
const IDLE_MILLISECONDS = 5000
/** And is asked so many questions at most. */
const CONNECTION_QUESTIONS = 1000
/** The length that stands before each message. */
const PREFIX_BYTES = 2

export class TcpLink {
  readonly #server: Server
  readonly #connections = new Set<Connection>()
  #current: Connection | null = null
  #isClosed = false

  constructor(server: Server) {
    this.#server = server
  }

  /**
   * Waits for the answer until a moment of performance.now(). Never rejects. A server may close a kept connection at any
   * time, so a question is asked once more where it is lost.
   */
  async ask(query: Query, until: number): Promise<Heard> {
    const heard = await this.#askOnce(query, until)
    return heard === 'lost' ? this.#askOnce(query, until) : heard
  }

  close(): void {
    this.#isClosed = true
    for (const connection of this.#connections) connection.end('unreachable')
  }

  #askOnce(query: Query, until: number): Promise<Heard> {
    if (this.#isClosed) return Promise.resolve('unreachable')
    if (!this.#current?.isOpen) {
      const connection = new Connection(this.#server, () => this.#connections.delete(connection))
      this.#connections.add(connection)
      this.#current = connection
    }
    return this.#current.ask(query, until)
  }
}

/** One connection. What came of a message that is not whole yet is kept as it came, so that joining it is linear. */
class Connection {
  /** Whether it takes questions. */
  isOpen = true
  readonly #socket: Socket
  readonly #ended: () => void
  readonly #waiting = new Waiting((heard) => {
    if (heard === 'timeout') this.isOpen = false // it may hang: the next question gets another
    if (!this.isOpen && this.#waiting.size === 0) this.end('lost')
  })
  #asked = 0
  #pieces: Buffer[] = []
  #bytes = 0
  /** Bytes of the prefix and the message that is coming. */
  #needed = PREFIX_BYTES

  constructor({ address, port }: Server, ended: () => void) {
    this.#ended = ended
    this.#socket = connect({ host: address, port, noDelay: true })
    this.#socket.setTimeout(IDLE_MILLISECONDS, () => this.#rest())
    this.#socket.on('data', (piece) => this.#take(piece))
    this.#socket.on('error', ({ code }: NodeJS.ErrnoException) => this.end(isLoss(code) ? 'lost' : 'unreachable'))
    this.#socket.on('close', () => this.end('lost'))
  }

  ask(query: Query, until: number): Promise<Heard> {
    if (++this.#asked === CONNECTION_QUESTIONS) this.isOpen = false
    const id = this.#waiting.freeId()
    const heard = this.#waiting.add(id, query, until)
    const { length } = query.bytes
    this.#socket.write(Buffer.concat([Buffer.from([length >> 8, length & 255]), setId(query, id)]))
    return heard
  }

  /** Tells all that wait, and closes. */
  end(heard: Heard): void {
    this.isOpen = false
    this.#socket.destroy()
    this.#ended()
    this.#waiting.tellAll(heard)
  }

  #rest(): void {
    this.isOpen = false
    if (this.#waiting.size === 0) this.end('lost')
  }

  #take(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    while (this.#bytes >= this.#needed) {
      const joined = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
      const whole = PREFIX_BYTES + joined.readUInt16BE()
      const isWhole = joined.length >= whole
      if (isWhole) this.#waiting.hear(joined.subarray(PREFIX_BYTES, whole))
      const rest = isWhole ? joined.subarray(whole) : joined
      this.#pieces = rest.length > 0 ? [rest] : []
      this.#bytes = rest.length
      this.#needed = isWhole ? PREFIX_BYTES : whole
    }
  }
}

function isLoss(code: string | undefined): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE'
}
