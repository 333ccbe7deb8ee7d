/** Questions to one server over TCP, several on one connection that is kept for a while (RFC 7766). */

import { connect, type Socket } from 'node:net'
import { idOf, isAnswerTo, type Query, underId } from './dns-query.ts'
import type { Server } from './dns-server.ts'
import { dice, type Heard } from './dns-udp.ts'

/** A connection on which nothing is waited for is kept so many milliseconds. */
const IDLE_MILLISECONDS = 5000
/** And is asked so many questions at most. */
const CONNECTION_QUESTIONS = 1000
/** The length that stands before each message. */
const PREFIX_BYTES = 2

/** `lost`: the server closed the connection, which it may do at any time between two questions. */
type Told = Heard | 'lost'
type Waiting = { query: Query; tell(told: Told): void; timer: NodeJS.Timeout }

export class TcpLink {
  readonly #server: Server
  readonly #connections = new Set<Connection>()
  #current: Connection | null = null
  #isClosed = false

  constructor(server: Server) {
    this.#server = server
  }

  /** Waits so many milliseconds for the answer; asks a second time where the connection is lost meanwhile. Never rejects. */
  async ask(query: Query, timeout: number): Promise<Heard> {
    if (this.#isClosed) return 'unreachable'
    const until = performance.now() + timeout
    const told = await this.#ready().ask(query, timeout)
    const left = until - performance.now()
    const again = told === 'lost' && left > 0 && !this.#isClosed ? await this.#ready().ask(query, left) : told
    return again === 'lost' ? 'timeout' : again
  }

  close(): void {
    this.#isClosed = true
    for (const connection of this.#connections) connection.end('unreachable')
  }

  #ready(): Connection {
    if (this.#current?.isOpen) return this.#current
    const connection = new Connection(this.#server, () => this.#connections.delete(connection))
    this.#connections.add(connection)
    this.#current = connection
    return connection
  }
}

/** One connection. What came of a message that is not whole yet is kept as it came, so that joining it is linear. */
class Connection {
  /** Whether it takes questions. */
  isOpen = true
  readonly #socket: Socket
  readonly #waiting = new Map<number, Waiting>()
  readonly #ended: () => void
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
    this.#socket.on('error', ({ code }: NodeJS.ErrnoException) => this.end(isReset(code) ? 'lost' : 'unreachable'))
    this.#socket.on('close', () => this.end('lost'))
  }

  ask(query: Query, timeout: number): Promise<Told> {
    if (++this.#asked === CONNECTION_QUESTIONS) this.isOpen = false
    let id = dice()
    while (this.#waiting.has(id)) id = dice()
    const message = underId(query, id, PREFIX_BYTES)
    message.writeUInt16BE(message.length - PREFIX_BYTES)
    return new Promise((tell) => {
      const timer = setTimeout(() => this.#tell(id, 'timeout'), timeout)
      this.#waiting.set(id, { query, tell, timer })
      this.#socket.write(message)
    })
  }

  /** Tells all that wait, and closes. */
  end(told: Told): void {
    this.isOpen = false
    this.#socket.destroy()
    this.#ended()
    for (const id of [...this.#waiting.keys()]) this.#tell(id, told)
  }

  /** Nothing has passed for a while. */
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
      if (joined.length >= whole) this.#hear(joined.subarray(PREFIX_BYTES, whole))
      const rest = joined.length >= whole ? joined.subarray(whole) : joined
      this.#pieces = rest.length > 0 ? [rest] : []
      this.#bytes = rest.length
      this.#needed = joined.length >= whole ? PREFIX_BYTES : whole
    }
  }

  #hear(message: Buffer): void {
    const id = idOf(message)
    const waiting = this.#waiting.get(id)
    if (waiting !== undefined && isAnswerTo(message, waiting.query)) this.#tell(id, message)
  }

  #tell(id: number, told: Told): void {
    const waiting = this.#waiting.get(id)!
    this.#waiting.delete(id)
    clearTimeout(waiting.timer)
    waiting.tell(told)
    if (!this.isOpen && this.#waiting.size === 0) this.end('lost')
  }
}

function isReset(code: string | undefined): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE'
}
