/** The direct path: answers a plain query that arrives whole in one read without node:http, which takes longer. */

import { type IncomingHttpHeaders, type IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { AccessRecord, ApiReply, ApiRequest } from '../exchange.ts'
import { formatHttpDate } from '../headers.ts'
import type { DirectConnection, PendingRequest, QueryRecognizer, RecognizedQuery } from '../pending-request.ts'
import { type ResponseBody, writeParts } from '../write-parts.ts'
import { type PlainQuery, PlainQueryReader } from './plain-query.ts'
import type { ResponseBatch } from './response-batch.ts'

/** What the server does with the requests of the direct path, as it does with those of node:http. */
export type DirectPathOptions = {
  nextId: () => string
  /** The address of the client, by the headers of trusted proxies. */
  clientAddress: (request: { socket: Socket; headers: Readonly<IncomingHttpHeaders> }) => string
  /** Begins the access record. Returns false if the request is rejected, and answers it. */
  admit: (request: ApiRequest, reply: ApiReply) => boolean
  /** Ends the access record. */
  onClosed: (request: ApiRequest, status: number, isFinished: boolean) => void
  routes: DirectRoutes
  batch: ResponseBatch
  /** Seconds, for the header Keep-Alive. */
  keepAliveSeconds: number
}

/** By path, such as `/v1.0/lookup`. */
export type DirectRoutes = ReadonlyMap<string, DirectRoute>

/** The properties that a response of node:http reads from its request. */
const MINIMAL_REQUEST = { method: 'POST', httpVersionMajor: 1, httpVersionMinor: 1, headers: {} }

type DirectRoute = {
  config: ApiRequest['routeOptions']['config']
  /** Sends the response. Never rejects. */
  handle: (request: ApiRequest, reply: ApiReply) => Promise<void>
}

export class DirectPath implements QueryRecognizer {
  readonly #options: DirectPathOptions
  readonly #reader = new PlainQueryReader()

  constructor(options: DirectPathOptions) {
    this.#options = options
  }

  recognize(bytes: Buffer): RecognizedQuery | null {
    const query = this.#reader.read(bytes)
    const route = query === null ? undefined : this.#options.routes.get(query.path)
    if (query === null || route === undefined) return null
    return {
      open: (connection, arrivedAt) => new DirectExchange(this.#options, { query, route, connection, arrivedAt }),
    }
  }
}

/**
 * Decides which requests of one connection take the direct path: plain queries, each alone, as long as everything that
 * the client has sent was one. The first request goes to node:http, whose timeout for a first request ends with it.
 */
export class DirectPathSelector {
  readonly #recognizer: QueryRecognizer | null
  #isOpen = true
  #isFirst = true

  constructor(recognizer: QueryRecognizer | null) {
    this.#recognizer = recognizer
  }

  /**
   * Whether everything so far was plain queries. Then node:http must get the bytes that it must parse in one piece:
   * if it had only a part of the first query, the rest could pass for another one.
   */
  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Returns null if node:http must parse the bytes. `pending`: the number of requests without a response. */
  recognize(bytes: Buffer, pending: number): RecognizedQuery | null {
    if (!this.#isOpen) return null
    const query = pending === 0 ? (this.#recognizer?.recognize(bytes) ?? null) : null
    this.#isOpen = query !== null
    if (!this.#isFirst) return query
    this.#isFirst = false
    return null
  }
}

class DirectRequest implements ApiRequest {
  readonly method = 'POST'
  readonly query = {}
  readonly id: string
  readonly url: string
  readonly body: string
  readonly headers: Readonly<IncomingHttpHeaders>
  readonly raw: { readonly socket: Socket }
  readonly routeOptions: ApiRequest['routeOptions']
  accessRecord!: AccessRecord
  readonly #clientAddress: DirectPathOptions['clientAddress']
  #ip: string | null = null

  constructor(
    { nextId, clientAddress }: DirectPathOptions,
    { path, headers, body }: PlainQuery,
    routeOptions: ApiRequest['routeOptions'],
    raw: { readonly socket: Socket },
  ) {
    this.id = nextId()
    this.url = path
    this.headers = headers
    this.body = body
    this.routeOptions = routeOptions
    this.raw = raw
    this.#clientAddress = clientAddress
  }

  get ip(): string {
    this.#ip ??= this.#clientAddress({ socket: this.raw.socket, headers: this.headers })
    return this.#ip
  }
}

/** `isLast`: the connection closes after it. */
type WholeResponse = { head: string; body: ResponseBody; isLast: boolean }

type DirectArrival = { query: PlainQuery; route: DirectRoute; connection: DirectConnection; arrivedAt: number }

/** One request of the direct path, and its response. */
class DirectExchange implements PendingRequest, ApiReply {
  readonly connection: DirectConnection
  readonly arrivedAt: number
  readonly isComplete = true
  readonly isParsedByNode = false
  readonly request: DirectRequest
  readonly isDroppable = false
  readonly #options: DirectPathOptions
  readonly #route: DirectRoute
  #raw: ServerResponse | null = null
  #status = 200
  #response: WholeResponse | null = null
  #isStarted = false
  #isClosed = false

  constructor(options: DirectPathOptions, { query, route, connection, arrivedAt }: DirectArrival) {
    this.connection = connection
    this.arrivedAt = arrivedAt
    this.#options = options
    this.#route = route
    this.request = new DirectRequest(options, query, route, connection)
  }

  get isAborted(): boolean {
    return this.connection.socket.destroyed
  }

  start(): void {
    this.#isStarted = true
    if (this.#options.admit(this.request, this)) void this.#route.handle(this.request, this)
  }

  /** A request that has not started has no access record, and is not logged. */
  abort(): void {
    if (this.#isStarted) this.#close(false)
  }

  /** A response of node:http on the same socket, for a response in parts. */
  get raw(): ServerResponse {
    this.#raw ??= this.#createRaw()
    return this.#raw
  }

  #createRaw(): ServerResponse {
    const { connection } = this
    const { keepAliveSeconds } = this.#options
    const raw = new ServerResponse(MINIMAL_REQUEST as IncomingMessage)
    const writeHead = raw.writeHead.bind(raw) as (status: number, headers: string[]) => ServerResponse
    raw.writeHead = ((status: number, headers: string[]) =>
      writeHead(status, [...headers, ...connectionHeaders(raw.shouldKeepAlive ? keepAliveSeconds : null)])) as never
    raw.assignSocket(connection.socket)
    raw.once('finish', () => {
      raw.detachSocket(connection.socket)
      this.#status = raw.statusCode
      this.#close(true)
      if (!raw.shouldKeepAlive) connection.close()
    })
    return raw
  }

  sendWhole(status: number, headers: readonly string[], body: ResponseBody, isLast: boolean): boolean {
    if (this.#raw !== null) return false
    this.#status = status
    const head = responseHead(status, headers, connectionHeaders(isLast ? null : this.#options.keepAliveSeconds))
    this.#response = { head, body, isLast }
    if (this.connection.hasOnlyRequest) this.write()
    else this.#options.batch.add(this)
    return true
  }

  /** Writes the whole response, unless the client has disconnected. */
  write(): void {
    const { head, body, isLast } = this.#response!
    const { socket } = this.connection
    if (!socket.writable) return // its connection closes, and aborts the request
    const [only] = body
    if (body.length === 1 && typeof only === 'string') socket.write(head + only)
    else {
      socket.cork()
      writeParts(socket, [head, ...body])
      socket.uncork()
    }
    const isWritten = socket.writableLength === 0 && !socket.errored
    // only a response that the kernel did not take at once has a callback, because Node calls it in a tick of its own
    if (!isWritten) socket.write('', (error) => this.#close(!error))
    if (isLast) this.connection.close()
    if (isWritten) this.#close(true)
  }

  #close(isFinished: boolean): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#options.onClosed(this.request, this.#status, isFinished)
    this.connection.onResponded(this)
  }
}

/** The headers that node:http adds to a response, in its order. `keepAliveSeconds`: null if the connection closes. */
function connectionHeaders(keepAliveSeconds: number | null): string[] {
  const date = ['Date', currentHttpDate()]
  if (keepAliveSeconds === null) return [...date, 'Connection', 'close']
  return [...date, 'Connection', 'keep-alive', 'Keep-Alive', `timeout=${keepAliveSeconds}`]
}

function responseHead(status: number, headers: readonly string[], ownHeaders: readonly string[]): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
  for (const list of [headers, ownHeaders]) {
    for (let at = 0; at < list.length; at += 2) head += `${list[at]}: ${list[at + 1]}\r\n`
  }
  return `${head}\r\n`
}

let dateSecond = 0
let dateText = ''

/** The value of the header Date, formatted once a second. */
function currentHttpDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) dateText = formatHttpDate(second)
  dateSecond = second
  return dateText
}
