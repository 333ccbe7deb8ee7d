/** Questions to one server over UDP, from many sockets: random ports that change now and then, and random ids. */

import { randomFillSync } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { family } from '../words/address.ts'
import { idOf, isAnswerTo, type Query, underId } from './dns-query.ts'
import type { Server } from './dns-server.ts'

/**
 * What one question to one server came to: a message that isAnswerTo lets pass, nothing in time, or that it could not be
 * asked: no route, nobody at that port, closed.
 */
export type Heard = Uint8Array | 'timeout' | 'unreachable'

/** A socket is given up for one of another port after so many questions. */
const SOCKET_QUESTIONS = 4096
const RECEIVE_BYTES = 4 << 20
/** More would make ids easy to guess, and free ones hard to find. */
const MOST_WAITING = 8192

type Waiting = { query: Query; tell(heard: Heard): void; timer: NodeJS.Timeout }

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

  /** Waits so many milliseconds for the answer. Never rejects. */
  async ask(query: Query, timeout: number): Promise<Heard> {
    const at = dice() % this.#lanes.length
    const lane = this.#lanes[at] ?? this.#open(at)
    const open = lane instanceof Lane ? lane : await lane
    if (open === null || this.#isClosed) return 'unreachable'
    const heard = open.ask(query, timeout)
    if (open.asked % SOCKET_QUESTIONS === 0) void this.#renew(at, open)
    return heard
  }

  close(): void {
    this.#isClosed = true
    for (const lane of this.#all) lane.close()
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
    const lane = new Lane(socket, this.#server, () => this.#all.delete(lane))
    this.#all.add(lane)
    if (this.#isClosed) lane.close()
    return lane
  }
}

/** One connected socket: the system lets only datagrams of the server's address and port through. */
class Lane {
  asked = 0
  readonly #socket: Socket
  readonly #server: Server
  readonly #waiting = new Map<number, Waiting>()
  readonly #closed: () => void
  #isRetired = false
  readonly #sent = (error: Error | null) => {
    if (error !== null) this.#tellAll('unreachable')
  }

  constructor(socket: Socket, server: Server, closed: () => void) {
    this.#socket = socket
    this.#server = server
    this.#closed = closed
    socket.on('message', (message, { address, port }) => this.#hear(message, address, port))
    socket.on('error', () => this.#tellAll('unreachable'))
  }

  ask(query: Query, timeout: number): Promise<Heard> {
    this.asked++
    if (this.#waiting.size >= MOST_WAITING) return Promise.resolve('unreachable')
    const id = this.#freeId()
    return new Promise((tell) => {
      const timer = setTimeout(() => this.#tell(id, 'timeout'), timeout)
      this.#waiting.set(id, { query, tell, timer })
      this.#socket.send(underId(query, id), this.#sent)
    })
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
    this.#tellAll('unreachable')
    this.retire()
  }

  /** What is no answer to a question that waits is passed by: the true answer may still come. */
  #hear(message: Buffer, address: string, port: number): void {
    const id = idOf(message)
    const waiting = this.#waiting.get(id)
    if (waiting === undefined || port !== this.#server.port || address !== this.#server.address) return
    if (isAnswerTo(message, waiting.query)) this.#tell(id, message)
  }

  #tell(id: number, heard: Heard): void {
    const waiting = this.#waiting.get(id)!
    this.#waiting.delete(id)
    clearTimeout(waiting.timer)
    waiting.tell(heard)
    if (this.#isRetired) this.retire()
  }

  #tellAll(heard: Heard): void {
    for (const id of [...this.#waiting.keys()]) this.#tell(id, heard)
  }

  #freeId(): number {
    let id = dice()
    while (this.#waiting.has(id)) id = dice()
    return id
  }
}

const dieBytes = new Uint16Array(4096)
let thrown = dieBytes.length

/** 16 bits that nobody foresees. */
export function dice(): number {
  if (thrown === dieBytes.length) {
    randomFillSync(dieBytes)
    thrown = 0
  }
  return dieBytes[thrown++]!
}
