/** A client's connection: how far it is read ahead, in which order its requests begin, and how it is closed without losing an answer. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Arrival, Connections } from './arrival.ts'
import { CROWD, CROWD_SLICE_BYTES, HELD_BYTES, LAST_ANSWERS, PARSED, READ_AHEAD, SLICE_BYTES } from './bounds.ts'
import { linger } from './linger.ts'
import { takeListener } from './listener.ts'

const known = new WeakMap<object, Connection>()

/** The connection of a request, or of a socket; undefined for a request that came over no socket. */
export function connectionOf(from: IncomingMessage | Socket): Connection | undefined {
  return known.get('socket' in from ? from.socket : from)
}

export class Connection {
  readonly socket: Socket
  readonly #all: Connections
  /** node:http's own listeners, which this stands in front of. */
  readonly #parse: (bytes: Buffer) => void
  readonly #end: () => void
  readonly #arrivals: Arrival[] = []
  #held: Buffer | null = null
  #isParsing = false
  #isPaused = false
  #hasEnded = false
  #isClosing = false
  #lastWords: string | null = null
  #lastAnswers = 0
  #active: number
  /** When the connection was accepted, if its first bytes have waited since; null once they were read. */
  #accepted: number | null = null
  /** When what is held has come, while the connection is lined up to have it parsed. */
  #linedUp: number | null = null
  /** When the request that is parsed at this moment has come, if it is begun then. */
  #due: number | null = null

  /** Takes over a socket on which node:http has just begun to listen. */
  constructor(socket: Socket, all: Connections) {
    this.socket = socket
    this.#all = all
    this.#active = all.ticks()
    this.#parse = takeListener(socket, 'data')
    this.#end = takeListener(socket, 'end')
    known.set(socket, this)
    all.open.add(this)
    socket.on('data', (bytes) => this.#receive(bytes))
    socket.on('end', () => this.#receiveEnd())
    socket.on('drain', () => this.#advance())
    socket.on('close', () => this.#drop())
    const { resume } = socket
    socket.resume = () => (this.#held === null ? resume.call(socket) : socket)
    socket.destroySoon = () => this.close()
  }

  /** The connection was accepted so many milliseconds ago: what can be read at once may have waited as long. */
  hasWaited(milliseconds: number): void {
    this.#accepted = this.#all.ticks() - milliseconds
    setImmediate(() => setImmediate(() => (this.#accepted = null)))
  }

  /** Requests that are parsed and not answered. */
  get waiting(): number {
    return this.#arrivals.length
  }

  /** The same of all connections of the process. */
  get underWay(): number {
    return this.#all.waiting + this.#all.unread
  }

  /** When the request that is being answered had arrived. */
  get arrivedAt(): number {
    return this.#arrivals[0]?.at ?? this.#all.ticks()
  }

  /** Milliseconds since anything was read or answered; 0 while a request is under way. */
  get idleTime(): number {
    return this.waiting > 0 || this.#held !== null ? 0 : this.#all.ticks() - this.#active
  }

  /** Adds a request that node:http has parsed. */
  add(request: IncomingMessage, response: ServerResponse): void {
    const arrival = { connection: this, request, response, at: this.#due ?? this.#arrived() }
    this.#arrivals.push(arrival)
    this.#all.waiting++
    if (this.waiting > 1) this.#all.behind++
    response.once('close', () => this.#answered(arrival))
    if (this.waiting === 1 && this.#due === null) this.#all.enter(arrival, false)
  }

  /** The turn of a connection that was lined up unread: parses what is held, and begins the first request of it. */
  read(): void {
    this.#due = this.#linedUp
    this.#leaveLine()
    this.#advance()
    this.#due = null
    const [first] = this.#arrivals
    if (first === undefined) return
    if (this.#hasEnded) this.#receiveEnd()
    if (!this.socket.destroyed && !first.request.destroyed) this.#all.begin(first)
  }

  /** Counts an answer that is sent while the server drains; true if it has to be the last one. */
  takesLastAnswer(): boolean {
    return (this.waiting <= 1 && this.#held === null) || ++this.#lastAnswers > LAST_ANSWERS
  }

  /** Answers the requests that came before, then says why the next one could not be read, and closes. */
  refuse(words: string): void {
    this.#lastWords = words
    this.#letGo()
    this.#forgetPartial()
    if (this.waiting === 0) this.close()
  }

  /** A request did not come whole in time: answers those before it, and closes. If its rest is held here, the client is not to blame. */
  giveUp(): void {
    if (this.#held !== null) return
    this.#forgetPartial()
    if (this.waiting === 0) this.socket.destroy()
    else this.#lastWords ??= ''
  }

  /** The rest of the last request will not come, so it gets no answer, unless that has begun. */
  #forgetPartial(): void {
    const { request, response } = this.#arrivals.at(-1) ?? {}
    if (request?.complete !== false || response?.headersSent) return
    this.#arrivals.pop()
    this.#countLess()
  }

  /** Sends what is written, then reads and drops what the client still sends until it closes too. */
  close(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.#letGo()
    this.socket.once('finish', () => linger(this.socket, this.#hasEnded)).end(this.#lastWords ?? '')
    this.socket.resume()
  }

  #receive(bytes: Buffer): void {
    if (this.#isClosing || this.#lastWords !== null) return
    this.#active = this.#all.ticks()
    this.#hold(this.#held === null ? bytes : Buffer.concat([this.#held, bytes]))
    if (this.#linedUp === null && this.waiting === 0 && this.#all.lineLength() >= PARSED) this.#lineUp()
    this.#advance()
  }

  #lineUp(): void {
    this.#linedUp = this.#arrived()
    this.#all.unread++
    this.#all.enter({ connection: this, request: null }, false)
  }

  #leaveLine(): void {
    if (this.#linedUp !== null) this.#all.unread--
    this.#linedUp = null
  }

  /** When bytes that are read at this moment had come. */
  #arrived(): number {
    const arrived = Math.min(this.#all.arrived(), this.#accepted ?? Number.POSITIVE_INFINITY)
    this.#accepted = null
    return arrived
  }

  /** Parses what is held as far as it may go, and pauses the socket if something is left. */
  #advance(): void {
    if (this.#isParsing) return
    this.#isParsing = true
    while (this.#held !== null && this.#mayParse()) {
      const bytes = this.#held
      const length = this.#all.behind < CROWD ? SLICE_BYTES : CROWD_SLICE_BYTES
      this.#hold(bytes.length > length ? bytes.subarray(length) : null)
      this.#parse(bytes.length > length ? bytes.subarray(0, length) : bytes)
    }
    this.#isParsing = false
    if (this.#held === null) this.#goOn()
    else if (this.#linedUp !== null && this.#held.length <= SLICE_BYTES) return
    else if (this.#all.heldBytes > HELD_BYTES) this.socket.destroy()
    else {
      this.#isPaused = true
      this.socket.pause()
    }
  }

  #mayParse(): boolean {
    const { destroyed, writableNeedDrain } = this.socket
    if (this.#isClosing || this.#lastWords !== null || destroyed || writableNeedDrain) return false
    if (this.#linedUp !== null) return false
    if (this.#arrivals.at(-1)?.request.complete === false) return true // its body: it may be the one that is waited for
    return this.waiting < (this.#all.behind < CROWD ? READ_AHEAD : 1)
  }

  #goOn(): void {
    this.#resume()
    if (this.#hasEnded && this.waiting === 0 && !this.#isClosing) this.#end()
  }

  /** A client that has sent several requests may only have ended its side; one that waits for a single answer is taken to be gone. */
  #receiveEnd(): void {
    this.#hasEnded = true
    if (this.waiting <= 1 && this.#held === null && !this.#isClosing) this.#end()
  }

  #answered(arrival: Arrival): void {
    if (this.#arrivals[0] !== arrival) return
    this.#arrivals.shift()
    this.#countLess()
    this.#active = this.#all.ticks()
    const [next] = this.#arrivals
    if (this.#isClosing) return
    if (next !== undefined) this.#all.enter(next, true)
    else if (this.#lastWords !== null) this.close()
    this.#advance()
  }

  #countLess(): void {
    this.#all.waiting--
    if (this.waiting > 0) this.#all.behind--
  }

  #hold(bytes: Buffer | null): void {
    this.#all.heldBytes += (bytes?.length ?? 0) - (this.#held?.length ?? 0)
    this.#held = bytes
  }

  /** Forgets what was read and will not be answered. */
  #letGo(): void {
    this.#hold(null)
    this.#resume()
  }

  #resume(): void {
    if (this.#isPaused) this.socket.resume()
    this.#isPaused = false
  }

  #drop(): void {
    this.#isClosing = true
    this.#hold(null)
    this.#leaveLine()
    this.#all.waiting -= this.waiting
    this.#all.behind -= Math.max(0, this.waiting - 1)
    this.#arrivals.length = 0
    this.#all.open.delete(this)
  }
}
