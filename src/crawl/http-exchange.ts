/** One request and its answer, bounded in time and size: the head as soon as it is there, the body for who wants it. */

import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { type BodyBounds, encodingOf, type Unpacker, unpacker } from './http-body.ts'
import type { Miss } from './http-dial.ts'
import { waitFor } from './patience.ts'
import type { WebLimits } from './web-limits.ts'

/** The error by which a connection tells the request why it did not come about. */
export class Missed extends Error {
  readonly miss: Miss

  constructor(miss: Miss) {
    super(miss)
    this.miss = miss
  }
}

/** How reading went. `cut`: the body went on over a bound, broke off, or could not be decoded to its end. */
export type Reading = 'whole' | 'cut' | 'unreadable'

export type Reply = {
  status: number
  /** The first field of this name in lower case; null for none. */
  field(name: string): string | null
  /** Stops the body while something else is asked. */
  hold(): void
  /** Hands on the body, decoded, as it comes. Called at most once, and not after `drop`. */
  read(sink: (chunk: Uint8Array) => void, bounds: BodyBounds): Promise<Reading>
  /** Nobody reads the body; a short one is let through, so that the connection stays. */
  drop(): void
}

type Fields = Record<string, string | string[] | undefined>

/** Bytes that the connection may have read ahead of those that are counted: two of its buffers. */
const AHEAD = 128 * 1024
const WATCH_MILLISECONDS = 100
const CUT = new Error('cut off')

export class Exchange implements Dispatcher.DispatchHandler, Reply {
  readonly answer: Promise<Reply | Miss>
  readonly #limits: WebLimits
  #answered: (answer: Reply | Miss) => void = () => {}
  #socket: Socket | null = null
  /** What the socket had read before, and what it may have read. */
  #start = 0
  #allowance = 0
  #reused = false
  #controller: Dispatcher.DispatchController | null = null
  #stop: () => void = () => {}
  #stopWatching: () => void = () => {}
  /** Bytes of a body that nobody reads. */
  #dropped = 0
  #interims = 0
  #mode: 'head' | 'waiting' | 'reading' | 'dropped' = 'head'
  #ended: Reading | null = null
  #fields: Fields = {}
  /** The body as far as it came before somebody wanted it. */
  #early: Uint8Array[] = []
  #unpacker: Unpacker | null = null
  #done: (reading: Reading) => void = () => {}
  status = 0
  /** The connection had served before and ended without a byte of this answer: it was closing already. */
  lost = false
  /** The connection ended, or said what is no HTTP, before it answered. */
  broken = false

  constructor(limits: WebLimits) {
    this.#limits = limits
    this.answer = new Promise((resolve) => {
      this.#answered = resolve
    })
  }

  /** Whether its body stands in the connection for somebody who is going to read it. */
  get held(): boolean {
    return this.#mode === 'waiting' && this.#ended === null
  }

  /**
   * Called when the connection is there, again where another one has to be made. Of HTTP/2 frames that are for no request
   * nobody hears anything, so that what was read is looked at from time to time. So is the connection: undici loses the
   * request of one that ends at an unlucky moment among frames of GOAWAY, and reports nothing.
   */
  begin(socket: Socket, reused: boolean): void {
    this.#stopWatching()
    if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') {
      let wasDestroyed = false
      const timer = setInterval(() => {
        if (wasDestroyed) this.#lose()
        wasDestroyed = socket.destroyed
        this.watch()
      }, WATCH_MILLISECONDS).unref()
      this.#stopWatching = () => clearInterval(timer)
    }
    this.#socket = socket
    this.#start = socket.bytesRead
    this.#reused = reused
    this.#allow(this.#limits.headBytes)
  }

  /** Called when another connection is about to be made for the request. */
  reconnect(): void {
    this.#stopWatching()
  }

  /** Called before the connection reads on: counts also what the parser skips. */
  watch(): void {
    if (this.#socket !== null && this.#socket.bytesRead > this.#allowance) this.cut()
  }

  /** Ends the exchange here; who reads gets what came by now. */
  cut(): void {
    if (this.#ended !== null) return
    this.#end('cut')
    this.#controller?.abort(CUT)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#ended === null) this.#setTimer(this.#limits.head)
    else controller.abort(CUT)
  }

  onResponseStart(_: unknown, status: number, fields: Fields): void {
    if (sizeOf(fields) > this.#limits.headBytes) this.cut()
    else if (status >= 200) {
      this.#stop()
      this.status = status
      this.#fields = fields
      this.#mode = 'waiting'
      this.#allow(this.#limits.drainBytes)
      this.#answered(this)
    } else if (++this.#interims > this.#limits.interims) this.cut()
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#mode === 'reading') this.#take(chunk)
    else if (this.#mode === 'waiting') this.#early.push(chunk)
    else this.#dropped += chunk.length
    if (this.#dropped > this.#limits.drainBytes) this.cut()
  }

  onResponseEnd(): void {
    this.#end('whole')
  }

  onResponseError(_: unknown, error: Error): void {
    if (error instanceof Missed) this.#answered(error.miss)
    else this.#lose()
    this.#end('cut')
  }

  field(name: string): string | null {
    const value = this.#fields[name]
    return (Array.isArray(value) ? value[0] : value) ?? null
  }

  hold(): void {
    this.#controller?.pause()
  }

  read(sink: (chunk: Uint8Array) => void, bounds: BodyBounds): Promise<Reading> {
    const given = this.#fields['content-encoding']
    const encoding = encodingOf(Array.isArray(given) ? given.join(',') : (given ?? null))
    if (encoding === 'unreadable') {
      this.drop()
      return Promise.resolve('unreadable')
    }
    return new Promise((resolve) => {
      this.#done = resolve
      this.#unpacker = unpacker(encoding, bounds, sink)
      for (const chunk of this.#early.splice(0)) this.#take(chunk)
      this.#mode = 'reading' // from here on the end of the exchange ends the reading
      if (this.#ended !== null) this.#finish(this.#ended)
      else {
        this.#allow(bounds.wireBytes)
        this.#setTimer(this.#limits.body)
        this.#resume()
      }
    })
  }

  drop(): void {
    this.#mode = 'dropped'
    this.#early = []
    this.#resume()
  }

  /** The connection ended before the answer had come whole. */
  #lose(): void {
    if (this.#ended !== null) return
    this.lost = this.#reused && this.#socket?.bytesRead === this.#start
    this.broken = this.#mode === 'head'
    this.#end('cut')
    this.#controller?.abort(CUT)
  }

  #take(chunk: Uint8Array): void {
    this.#unpacker?.write(chunk)
    if (this.#unpacker?.done) this.cut()
  }

  #resume(): void {
    if (this.#ended === null && this.#controller?.paused) this.#controller.resume()
  }

  #allow(bytes: number): void {
    if (this.#socket !== null) this.#allowance = this.#socket.bytesRead + bytes + AHEAD
  }

  #setTimer(milliseconds: number): void {
    this.#stop()
    this.#stop = waitFor(milliseconds, () => this.cut())
  }

  #end(how: Reading): void {
    if (this.#ended !== null) return
    this.#ended = how
    this.#stop()
    this.#stopWatching()
    this.#answered('silent') // heard only where nothing was answered before
    if (this.#mode === 'reading') this.#finish(how)
  }

  #finish(how: Reading): void {
    const unpacking = this.#unpacker
    unpacking?.end().then(() => this.#done(unpacking.done ? 'cut' : how))
  }
}

/** Characters of a head, which HTTP/2 sends packed. */
function sizeOf(fields: Fields): number {
  let size = 0
  for (const [name, value] of Object.entries(fields)) size += name.length + (value?.toString().length ?? 0)
  return size
}
