/** One server that questions go to: within its limit, over UDP and TCP, with EDNS where that passes. */

import type { RecordType } from '../words/record.ts'
import { readAnswer, type Said } from './dns-answer.ts'
import type { Outcome, Ticket } from './dns-limiter.ts'
import type { Path } from './dns-path.ts'
import { makeQuery, type Query } from './dns-query.ts'
import type { Server } from './dns-server.ts'
import { TcpLink } from './dns-tcp.ts'
import { UdpPool } from './dns-udp.ts'
import { dice, type Heard } from './dns-waiting.ts'
import type { Failure } from './visit.ts'

export type Asked = {
  host: string
  type: RecordType
  /** The number of the socket that asks. */
  socket: number
  /** The moment of performance.now() at which the question is given up. */
  until: number
  /** An attempt before failed here, or timed out; no other attempt follows. */
  isAgain: boolean
  /** How many attempts there were before, so that none is answered from what was kept of another one. */
  attempt: number
  hasTimedOut: boolean
  isLast: boolean
}

export type Answered = Extract<Said, { outcome: 'records' | 'nxdomain' }>
export type Failing = Extract<Said, { outcome: 'failed' }>
/** `ticket` is null where the question did not get a place in flight. */
export type Settled = { said: Answered | Failing | { outcome: 'unreachable' }; ticket: Ticket | null }

/** `timeout`: milliseconds of one attempt; `isUrgent`: questions go before those of others. */
export type LineOptions = { timeout: number; sockets: number; isUrgent: boolean }

/** What a server says, or does not, that is asked more than it bears. */
const OVERLOAD: readonly Failure[] = ['timeout', 'refused', 'servfail']
const UNREACHABLE = { outcome: 'unreachable' } as const

export class Line {
  readonly server: Server
  readonly path: Path
  readonly #options: LineOptions
  readonly #udp: UdpPool
  readonly #tcp: TcpLink
  /** When it answered last, and when it last answered without failing, of performance.now(). */
  #heard = Number.NEGATIVE_INFINITY
  #succeeded = Number.NEGATIVE_INFINITY
  #probe: Promise<unknown> | null = null

  constructor(server: Server, path: Path, options: LineOptions) {
    this.server = server
    this.path = path
    this.#options = options
    this.#udp = new UdpPool(server, options.sockets)
    this.#tcp = new TcpLink(server)
  }

  /** Never rejects. */
  async ask(asked: Asked, isUrgent = this.#options.isUrgent): Promise<Settled> {
    const { limiter } = this.path
    const entered = limiter.enter({ host: asked.host, isAgain: asked.isAgain, isUrgent }, asked.until)
    const ticket = entered instanceof Promise ? await entered : entered
    if (ticket === null) return { said: UNREACHABLE, ticket }
    const said = await this.#askNow(asked)
    limiter.leave(ticket, outcomeOf(said))
    return { said, ticket }
  }

  /** Whether it answered any question since a moment, or answers one now. */
  async answersSince(moment: number): Promise<boolean> {
    if (this.#heard < moment) await this.#ask()
    return this.#heard >= moment
  }

  /** Whether it answered a question without failing since a moment, or does so now. */
  async succeedsSince(moment: number): Promise<boolean> {
    if (this.#succeeded < moment) await this.#ask()
    return this.#succeeded >= moment
  }

  close(): void {
    this.#udp.close()
    this.#tcp.close()
    this.path.limiter.close()
  }

  /** Asks for the root, once at a time, and before others: it would come too late behind all that waits. */
  async #ask(): Promise<void> {
    const until = performance.now() + 2 * this.#options.timeout
    const root = {
      host: '.',
      type: 'NS',
      socket: dice(),
      until,
      isAgain: false,
      attempt: 0,
      hasTimedOut: false,
      isLast: true,
    } as const
    this.#probe ??= this.ask(root, true)
    await this.#probe
    this.#probe = null
  }

  /** Without EDNS where that was not understood or does not pass, and over TCP where the answer was cut off. */
  async #askNow({ host, type, socket, attempt, hasTimedOut, isLast }: Asked): Promise<Settled['said']> {
    const { edns } = this.path
    let hasEdns = edns.isWanted({ hasTimedOut, isLast })
    let query = makeQuery(host, type, hasEdns, attempt)!
    let said = this.#understand(await this.#udp.ask(query, this.#next(), socket), query)
    if (said.outcome === 'unknown' && hasEdns) {
      hasEdns = false
      query = makeQuery(host, type, hasEdns)!
      said = this.#understand(await this.#udp.ask(query, this.#next(), socket), query)
    } else if (said.outcome !== 'unreachable' && !isTimeout(said)) edns.answered({ hasEdns, hasTimedOut })
    if (said.outcome === 'cut') said = this.#understand(await this.#tcp.ask(query, this.#next()), query)
    if (said.outcome === 'unknown') return { outcome: 'failed', why: 'servfail' }
    return said.outcome === 'cut' ? { outcome: 'failed', why: 'malformed' } : said
  }

  #understand(heard: Heard, query: Query): Said | typeof UNREACHABLE {
    if (heard === 'unreachable') return UNREACHABLE
    if (typeof heard === 'string') return { outcome: 'failed', why: 'timeout' }
    this.#heard = performance.now()
    const said = readAnswer(heard, query)
    if (said.outcome === 'records' || said.outcome === 'nxdomain') this.#succeeded = this.#heard
    return said
  }

  /** The moment at which an attempt that begins now is given up. */
  #next(): number {
    return performance.now() + this.#options.timeout
  }
}

function isTimeout(said: Said): boolean {
  return said.outcome === 'failed' && said.why === 'timeout'
}

function outcomeOf(said: Settled['said']): Outcome {
  if (said.outcome === 'unreachable') return 'lost'
  return said.outcome === 'failed' && OVERLOAD.includes(said.why) ? 'failed' : 'answered'
}
