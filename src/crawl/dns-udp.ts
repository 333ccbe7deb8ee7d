/** Questions to one server over UDP, from many sockets: random ports that change now and then, and random ids. */

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { family } from '../words/address.ts'
import { type Query, setId } from './dns-query.ts'
import type { Server } from './dns-server.ts'
import { type Heard, Waiting } from './dns-waiting.ts'

/** A socket is given up for one of another port after so many questions. */
const SOCKET_QUESTIONS = 4096
const RECEIVE_BYTES = 4 << 20
/** More would make ids easy to guess, and free ones hard to find. */
const MOST_WAITING = 8192

export class UdpPool {
  readonly #server: Server
  readonly #lanes: (Lane | Promise<Lane | null> | null)[]
  /** All that are not closed, those included that are given up and still waited on. */
  readonly #all = new Set<Lane>()
  #isClosed = false

  /** Sockets are opened when they are first needed. */
  constructor(server: Server, sockets: number) {
    this.#server = server
    this.#lanes = Array.from({ length: sockets }, () => null)
  }

  /** Waits for the answer until a moment of performance.now(), on the socket of this number. Never rejects. */
  ask(query: Query, until: number, socket: number): Promise<Heard> {
    const at = socket % this.#lanes.length
    const lane = this.#lanes[at]
    return lane instanceof Lane ? this.#askOn(lane, at, query, until) : this.#askFirst(at, query, until)
  }

  close(): void {
    this.#isClosed = true
    for (const lane of this.#all) lane.close()
  }

  #askOn(lane: Lane, at: number, query: Query, until: number): Promise<Heard> {
    if (this.#isClosed) return Promise.resolve('unreachable')
    if (++lane.asked % SOCKET_QUESTIONS === 0) void this.#renew(at, lane)
    return lane.ask(query, until)
  }

  async #askFirst(at: number, query: Query, until: number): Promise<Heard> {
    const lane = await (this.#lanes[at] ?? this.#open(at))
    return lane === null ? 'unreachable' : this.#askOn(lane, at, query, until)
  }

  async #open(at: number): Promise<Lane | null> {
    const opening = this.#connect()
    this.#lanes[at] = opening
    const lane = await opening
    this.#lanes[at] = lane
    return lane
  }

  /** The old socket goes on until the new one is there, and closes once all that wait on it have been told. */
  async #renew(at: number, old: Lane): Promise<void> {
    const lane = await this.#connect()
    if (lane === null) return
    this.#lanes[at] = lane
    old.retire()
  }

  /** Null where there is no route, or no socket is left. */
  async #connect(): Promise<Lane | null> {
    const { address, port } = this.#server
    const socket = createSocket({ type: family(address) === 4 ? 'udp4' : 'udp6', recvBufferSize: RECEIVE_BYTES })
    try {
      socket.connect(port, address)
      await once(socket, 'connect')
    } catch {
      socket.close()
      return null
    }
    if (this.#isClosed) {
      socket.close()
      return null
    }
    const lane = new Lane(socket, () => this.#all.delete(lane))
    this.#all.add(lane)
    return lane
  }
}

/** One connected socket: from then on the system lets only datagrams of the server's address and port through. */
class Lane {
  asked = 0
  readonly #socket: Socket
  readonly #closed: () => void
  readonly #waiting = new Waiting(() => {
    if (this.#isRetired) this.retire()
  })
  #isRetired = false
  readonly #sent = (error: Error | null) => {
    if (error !== null) this.#waiting.tellAll('unreachable')
  }

  constructor(socket: Socket, closed: () => void) {
    this.#socket = socket
    this.#closed = closed
    const server = socket.remoteAddress()
    socket.on('message', (message, { address, port }) => {
      if (port === server.port && address === server.address) this.#waiting.hear(message)
    })
    socket.on('error', () => this.#waiting.tellAll('unreachable'))
  }

  ask(query: Query, until: number): Promise<Heard> {
    if (this.#waiting.size >= MOST_WAITING) return Promise.resolve('unreachable')
    const id = this.#waiting.freeId()
    const heard = this.#waiting.add(id, query, until)
    this.#socket.send(setId(query, id), this.#sent)
    return heard
  }

  /** Closes as soon as nobody waits. */
  retire(): void {
    this.#isRetired = true
    if (this.#waiting.size > 0) return
    this.#socket.close()
    this.#closed()
  }

  close(): void {
    this.#isRetired = false
    this.#waiting.tellAll('unreachable')
    this.retire()
  }
}
