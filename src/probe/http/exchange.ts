/** One request and its response, bounded in time and size. The head is available first, and the body on demand. */

import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { setStallTolerantTimeout } from '../stall-timer.ts'
import { type BodyDecoder, type BodyLimits, makeBodyDecoder, parseContentEncoding } from './body.ts'
import type { ConnectFailure } from './connect.ts'
import type { WebLimits } from './limits.ts'

/** The error that tells a request why its connection failed. */
export class ConnectFailedError extends Error {
  readonly failure: ConnectFailure

  constructor(failure: ConnectFailure) {
    super(failure)
    this.failure = failure
  }
}

/** The result of reading a body. `cut`: it exceeded a limit, broke off, or could not be decoded to its end. */
type BodyReadResult = 'whole' | 'cut' | 'unreadable'

export type HttpResponse = {
  status: number
  /** The first field of this name (lower case). Returns null if there is none. */
  header(name: string): string | null
  /** Pauses the body during another request. */
  pause(): void
  /** Passes on the decoded body as it arrives. Call it at most once, and not after `discard`. */
  read(sink: (chunk: Uint8Array) => void, limits: BodyLimits): Promise<BodyReadResult>
  /** Ignores the body. A short one is read, so that the connection stays usable. */
  discard(): void
}

type RawHeaders = Record<string, string | string[] | undefined>

/** Bytes that the connection may have read ahead of the counted ones: two of its buffers. */
const READ_AHEAD_BYTES = 128 * 1024
const BYTE_CHECK_INTERVAL_MS = 100
const ABORT_ERROR = new Error('cut off')

export class HttpExchange implements Dispatcher.DispatchHandler, HttpResponse {
  readonly response: Promise<HttpResponse | ConnectFailure>
  readonly #limits: WebLimits
  #resolveResponse: (answer: HttpResponse | ConnectFailure) => void = () => {}
  #socket: Socket | null = null
  /** The bytes that the socket had read before, and the maximum it may have read. */
  #startBytes = 0
  #maxBytesRead = 0
  #isReused = false
  #controller: Dispatcher.DispatchController | null = null
  #cancelTimeout: () => void = () => {}
  #stopByteCheck: () => void = () => {}
  /** Bytes of an ignored body. */
  #discardedBytes = 0
  #interimResponses = 0
  #mode: 'head' | 'waiting' | 'reading' | 'dropped' = 'head'
  #ended: BodyReadResult | null = null
  #fields: RawHeaders = {}
  /** The part of the body that arrived before `read`. */
  #buffered: Uint8Array[] = []
  #decoder: BodyDecoder | null = null
  #resolveRead: (reading: BodyReadResult) => void = () => {}
  status = 0
  /** The connection was reused and ended without a byte of this response. It was already closing. */
  isLost = false
  /** The connection ended or sent invalid HTTP before the response. */
  isBroken = false

  constructor(limits: WebLimits) {
    this.#limits = limits
    this.response = new Promise((resolve) => {
      this.#resolveResponse = resolve
    })
  }

  /** Whether the connection has a body that will be read. */
  get hasUnreadBody(): boolean {
    return this.#mode === 'waiting' && this.#ended === null
  }

  /**
   * Called when the connection is made, and again if another one replaces it. undici reports no HTTP/2 frame that
   * belongs to no request, so a timer checks the bytes read. It also checks whether the connection has ended: undici
   * can lose the request of a connection that ends while GOAWAY frames arrive, and reports nothing.
   */
  attach(socket: Socket, isReused: boolean): void {
    this.#stopByteCheck()
    if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') {
      let wasDestroyed = false
      const timer = setInterval(() => {
        if (wasDestroyed) this.#loseConnection()
        wasDestroyed = socket.destroyed
        this.checkBytesRead()
      }, BYTE_CHECK_INTERVAL_MS).unref()
      this.#stopByteCheck = () => clearInterval(timer)
    }
    this.#socket = socket
    this.#startBytes = socket.bytesRead
    this.#isReused = isReused
    this.#setByteLimit(this.#limits.headBytes)
  }

  /** Called before another connection is made for the request. */
  detach(): void {
    this.#stopByteCheck()
  }

  /** Called before the connection reads on: counts also what the parser skips. */
  checkBytesRead(): void {
    if (this.#socket !== null && this.#socket.bytesRead > this.#maxBytesRead) this.abort()
  }

  /** Ends the exchange. The reader gets what arrived so far. */
  abort(): void {
    if (this.#ended !== null) return
    this.#end('cut')
    this.#controller?.abort(ABORT_ERROR)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#ended === null) this.#setTimer(this.#limits.headMs)
    else controller.abort(ABORT_ERROR)
  }

  onResponseStart(_: unknown, status: number, fields: RawHeaders): void {
    if (headerSize(fields) > this.#limits.headBytes) this.abort()
    else if (status >= 200) {
      this.#cancelTimeout()
      this.status = status
      this.#fields = fields
      this.#mode = 'waiting'
      this.#setByteLimit(this.#limits.drainBytes)
      this.#resolveResponse(this)
    } else if (++this.#interimResponses > this.#limits.interimResponses) this.abort()
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    if (this.#mode === 'reading') this.#decode(chunk)
    else if (this.#mode === 'waiting') this.#buffered.push(chunk)
    else this.#discardedBytes += chunk.length
    if (this.#discardedBytes > this.#limits.drainBytes) this.abort()
  }

  onResponseEnd(): void {
    this.#end('whole')
  }

  onResponseError(_: unknown, error: Error): void {
    if (error instanceof ConnectFailedError) this.#resolveResponse(error.failure)
    else this.#loseConnection()
    this.#end('cut')
  }

  /** Ends the exchange because its connection ended before the response was complete. */
  #loseConnection(): void {
    if (this.#ended !== null) return
    this.isLost = this.#isReused && this.#socket?.bytesRead === this.#startBytes
    this.isBroken = this.#mode === 'head'
    this.#end('cut')
    this.#controller?.abort(ABORT_ERROR)
  }

  header(name: string): string | null {
    const value = this.#fields[name]
    return (Array.isArray(value) ? value[0] : value) ?? null
  }

  pause(): void {
    this.#controller?.pause()
  }

  read(sink: (chunk: Uint8Array) => void, limits: BodyLimits): Promise<BodyReadResult> {
    const contentEncoding = this.#fields['content-encoding']
    const encoding = parseContentEncoding(
      Array.isArray(contentEncoding) ? contentEncoding.join(',') : (contentEncoding ?? null),
    )
    if (encoding === 'unreadable') {
      this.discard()
      return Promise.resolve('unreadable')
    }
    return new Promise((resolve) => {
      this.#resolveRead = resolve
      this.#decoder = makeBodyDecoder(encoding, limits, sink)
      for (const chunk of this.#buffered.splice(0)) this.#decode(chunk)
      this.#mode = 'reading' // from here on, the end of the exchange ends the reading
      if (this.#ended !== null) this.#finish(this.#ended)
      else {
        this.#setByteLimit(limits.wireBytes)
        this.#setTimer(this.#limits.bodyMs)
        this.#resume()
      }
    })
  }

  discard(): void {
    this.#mode = 'dropped'
    this.#buffered = []
    this.#resume()
  }

  #decode(chunk: Uint8Array): void {
    this.#decoder?.write(chunk)
    if (this.#decoder?.done) this.abort()
  }

  #resume(): void {
    if (this.#ended === null && this.#controller?.paused) this.#controller.resume()
  }

  #setByteLimit(bytes: number): void {
    if (this.#socket !== null) this.#maxBytesRead = this.#socket.bytesRead + bytes + READ_AHEAD_BYTES
  }

  #setTimer(milliseconds: number): void {
    this.#cancelTimeout()
    this.#cancelTimeout = setStallTolerantTimeout(milliseconds, () => this.abort())
  }

  #end(result: BodyReadResult): void {
    if (this.#ended !== null) return
    this.#ended = result
    this.#cancelTimeout()
    this.#stopByteCheck()
    this.#resolveResponse('no_response') // has an effect only if there was no response before
    if (this.#mode === 'reading') this.#finish(result)
  }

  #finish(result: BodyReadResult): void {
    const decoder = this.#decoder
    decoder?.end().then(() => this.#resolveRead(decoder.done ? 'cut' : result))
  }
}

/** The characters of a head. HTTP/2 sends it compressed. */
function headerSize(fields: RawHeaders): number {
  let size = 0
  for (const [name, value] of Object.entries(fields)) size += name.length + (value?.toString().length ?? 0)
  return size
}
