/** The client of one server: applies its limit, uses UDP and TCP, and EDNS if it passes. */

import { connect, type Socket } from 'node:net'
import type { RecordType } from '../../values/records/dns-record.ts'
import type { DnsFailure } from '../probe-result.ts'
import type { QueryOutcome, QueryTicket } from './concurrency-limiter.ts'
import { type DnsQuery, encodeQuery, setQueryId } from './message/query.ts'
import { type DnsReply, parseReply } from './message/reply.ts'
import { PendingQueries, type RawDnsResponse, random16 } from './pending-queries.ts'
import type { DnsServer } from './server.ts'
import type { DnsServerPath } from './server-path.ts'
import { DnsUdpPool } from './udp.ts'

/** Milliseconds after which an idle connection closes. */
const IDLE_TIMEOUT_MS = 5000
const MAX_QUERIES_PER_CONNECTION = 1000

/** The length prefix of each message. */
const LENGTH_PREFIX_BYTES = 2

/** Queries to one server over TCP. Several queries share a persistent connection (RFC 7766). */
class DnsTcpClient {
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

type ServerQuery = {
  host: string
  type: RecordType
  /** The number of the socket that sends the query. */
  socket: number
  /** The time of performance.now() at which the query times out. */
  deadline: number
  /**
   * `isRetry`: an earlier attempt failed here. `hasTimedOut`: an earlier attempt timed out. `isLast`: no attempt
   * follows.
   */
  isRetry: boolean
  /** The number of earlier attempts. Each attempt differs, so that no cache answers it with the response to another. */
  attempt: number
  hasTimedOut: boolean
  isLast: boolean
}

export type PositiveReply = Extract<DnsReply, { outcome: 'records' | 'nxdomain' }>
export type FailedReply = Extract<DnsReply, { outcome: 'failed' }>
/** `ticket` is null if the query got no place in flight. */
type ServerQueryResult = {
  reply: PositiveReply | FailedReply | { outcome: 'unreachable' }
  ticket: QueryTicket | null
}

/** `timeoutMs`: milliseconds per attempt; `isUrgent`: the queries precede those of others. */
type DnsServerClientOptions = { timeoutMs: number; sockets: number; isUrgent: boolean }

/** Failures that an overloaded server may cause. */
const OVERLOAD_FAILURES: readonly DnsFailure[] = ['timeout', 'refused', 'servfail']
const UNREACHABLE_REPLY = { outcome: 'unreachable' } as const

type ParsedReply = DnsReply | typeof UNREACHABLE_REPLY

export class DnsServerClient {
  readonly server: DnsServer
  readonly path: DnsServerPath
  readonly #options: DnsServerClientOptions
  readonly #udp: DnsUdpPool
  readonly #tcp: DnsTcpClient
  /** Times of performance.now(): the last answer, and the last answer without a failure. */
  #lastAnswerAt = Number.NEGATIVE_INFINITY
  #lastSuccessAt = Number.NEGATIVE_INFINITY
  #probe: Promise<ServerQueryResult> | null = null

  constructor(server: DnsServer, path: DnsServerPath, options: DnsServerClientOptions) {
    this.server = server
    this.path = path
    this.#options = options
    this.#udp = new DnsUdpPool(server, options.sockets)
    this.#tcp = new DnsTcpClient(server)
  }

  /** Sends without EDNS if the path drops it. Never rejects. */
  async query(request: ServerQuery, isUrgent = this.#options.isUrgent): Promise<ServerQueryResult> {
    const { limiter, edns } = this.path
    const { host, type, isRetry, socket, attempt, hasTimedOut } = request
    const acquired = limiter.acquire({ host, isRetry, isUrgent }, request.deadline)
    const ticket = acquired instanceof Promise ? await acquired : acquired
    if (ticket === null) return { reply: UNREACHABLE_REPLY, ticket }
    const hasEdns = edns.shouldUse(request)
    const query = encodeQuery(host, type, hasEdns, attempt)
    const received = query === null ? 'unreachable' : await this.#udp.query(query, this.#options.timeoutMs, socket)
    const first = this.#parse(received, query!)
    if (isAnswered(first, hasEdns)) edns.recordAnswer({ hasEdns, hasTimedOut })
    const isUsable = first.outcome !== 'unknown' && first.outcome !== 'cut'
    const reply = isUsable ? first : await this.#sendAgain(request, query!, first, hasEdns)
    limiter.release(ticket, limiterOutcomeOf(reply))
    return { reply, ticket }
  }

  /** Whether the server answered any query since `moment`, or answers one now. */
  async answersSince(moment: number): Promise<boolean> {
    if (this.#lastAnswerAt < moment) await this.#queryRoot()
    return this.#lastAnswerAt >= moment
  }

  /** Whether the server answered a query without failure since `moment`, or does so now. */
  async succeedsSince(moment: number): Promise<boolean> {
    if (this.#lastSuccessAt < moment) await this.#queryRoot()
    return this.#lastSuccessAt >= moment
  }

  close(): void {
    this.#udp.close()
    this.#tcp.close()
    this.path.limiter.close()
  }

  /** What the server replies for the root. */
  async rootReply(): Promise<'ok' | DnsFailure> {
    const { reply } = await this.#queryRoot()
    if (reply.outcome === 'unreachable') return 'timeout'
    return reply.outcome === 'failed' ? reply.why : 'ok'
  }

  /** Queries the root, one query at a time, and ahead of others. Behind all waiting queries it would come too late. */
  async #queryRoot(): Promise<ServerQueryResult> {
    const deadline = performance.now() + 2 * this.#options.timeoutMs
    const root = {
      host: '.',
      type: 'NS',
      socket: random16(),
      deadline,
      isRetry: false,
      attempt: 0,
      hasTimedOut: false,
      isLast: true,
    } as const
    this.#probe ??= this.query(root, true)
    const result = await this.#probe
    this.#probe = null
    return result
  }

  /** Repeats without EDNS if the server does not support it, and over TCP if the answer was truncated. */
  async #sendAgain(
    { host, type, socket }: ServerQuery,
    sent: DnsQuery,
    first: ParsedReply,
    hasEdns: boolean,
  ): Promise<ServerQueryResult['reply']> {
    const { timeoutMs } = this.#options
    let [query, reply] = [sent, first]
    if (reply.outcome === 'unknown' && hasEdns) {
      query = encodeQuery(host, type, false)!
      reply = this.#parse(await this.#udp.query(query, timeoutMs, socket), query)
    }
    if (reply.outcome === 'cut') reply = this.#parse(await this.#tcp.query(query, performance.now() + timeoutMs), query)
    if (reply.outcome === 'unknown') return { outcome: 'failed', why: 'servfail' }
    return reply.outcome === 'cut' ? { outcome: 'failed', why: 'malformed' } : reply
  }

  #parse(received: RawDnsResponse, query: DnsQuery): ParsedReply {
    if (received === 'unreachable') return UNREACHABLE_REPLY
    if (typeof received === 'string') return { outcome: 'failed', why: 'timeout' }
    this.#lastAnswerAt = performance.now()
    const reply = parseReply(received, query)
    if (reply.outcome === 'records' || reply.outcome === 'nxdomain') this.#lastSuccessAt = this.#lastAnswerAt
    return reply
  }
}

/** Whether the server answered. A server that does not support EDNS answers only the query without it. */
function isAnswered(reply: ParsedReply, hasEdns: boolean): boolean {
  if (reply.outcome === 'unreachable' || (reply.outcome === 'unknown' && hasEdns)) return false
  return reply.outcome !== 'failed' || reply.why !== 'timeout'
}

function limiterOutcomeOf(reply: ServerQueryResult['reply']): QueryOutcome {
  if (reply.outcome === 'unreachable') return 'lost'
  return reply.outcome === 'failed' && OVERLOAD_FAILURES.includes(reply.why) ? 'failed' : 'answered'
}

function isConnectionLoss(code: string | undefined): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE'
}
