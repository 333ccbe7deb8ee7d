/** The resolver's side of a visit: one question in, what the operator's resolvers make of it out. */

import type { RecordType } from '../words/record.ts'
import { MOST_ALIASES, readAnswer, type Said } from './dns-answer.ts'
import { makeQuery, type Query } from './dns-query.ts'
import type { Server } from './dns-server.ts'
import { TcpLink } from './dns-tcp.ts'
import { UdpPool } from './dns-udp.ts'
import type { Heard } from './dns-waiting.ts'
import type { Answer, Failure } from './visit.ts'

export { parseServer, type Server, systemServers } from './dns-server.ts'

export type Resolver = {
  /**
   * Asks for one type at a host in presentation form, for at most `attempts` times `timeout`. Never rejects. Null: it could
   * not be asked for a reason of ours (no resolver at that port, no route, closed, no host, nothing answered at all meanwhile).
   */
  ask(host: string, type: RecordType): Promise<Answer | null>
  close(): Promise<void>
}

export type ResolverOptions = {
  /** Questions go to them in turn, and to the next where one fails. */
  servers: readonly Server[]
  /** Milliseconds until an attempt is given up. */
  timeout?: number
  /** Questions to servers until one question of ours is given up. */
  attempts?: number
  /** UDP sockets a server. */
  sockets?: number
}

type Line = { udp: UdpPool; tcp: TcpLink }
type Settled = Exclude<Said, { outcome: 'unknown' | 'cut' }>
type Unreachable = { outcome: 'unreachable' }

const TIMEOUT_MILLISECONDS = 3000
const ATTEMPTS = 3
const SOCKETS = 16
/** A server's own word says more than an answer that cannot be read, and that more than none. */
const WEIGHTS: Readonly<Record<Failure, number>> = { timeout: 1, malformed: 2, lame: 3, refused: 3, servfail: 3 }
const OWN_WORD = 3

/** Sockets are opened when they are first needed. */
export async function openResolver(options: ResolverOptions): Promise<Resolver> {
  return new Lines(options)
}

class Lines implements Resolver {
  readonly #lines: readonly Line[]
  readonly #timeout: number
  readonly #attempts: number
  #turn = 0
  /** When a server answered last, of performance.now(). */
  #heard = 0
  #probe: Promise<unknown> | null = null
  #isClosed = false

  constructor({ servers, timeout = TIMEOUT_MILLISECONDS, attempts = ATTEMPTS, sockets = SOCKETS }: ResolverOptions) {
    this.#lines = servers.map((server) => ({ udp: new UdpPool(server, sockets), tcp: new TcpLink(server) }))
    this.#timeout = timeout
    this.#attempts = attempts
  }

  /** Where a server stopped at an alias, addresses are asked of its target; the name itself has nothing else there. */
  async ask(host: string, type: RecordType): Promise<Answer | null> {
    const began = performance.now()
    const until = began + this.#attempts * this.#timeout
    const aliases: string[] = []
    for (let at = host; ; at = aliases.at(-1)!) {
      const said = await this.#askServers(at, type, until)
      if (said === null || this.#isClosed || (isTimeout(said) && !(await this.#hasAnswered(began)))) return null
      if (said.outcome === 'nxdomain' && aliases.length > 0) return { outcome: 'records', records: [], aliases }
      if (said.outcome !== 'records') return said
      aliases.push(...said.aliases)
      if (aliases.length > MOST_ALIASES) return { outcome: 'failed', why: 'malformed' }
      if (said.isWhole || (type !== 'A' && type !== 'AAAA')) {
        return { outcome: 'records', records: said.records, aliases }
      }
      if (aliases.indexOf(aliases.at(-1)!) < aliases.length - 1) return { outcome: 'failed', why: 'malformed' }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const { udp, tcp } of this.#lines) {
      udp.close()
      tcp.close()
    }
  }

  /** Null where no server could be asked. A server that gave its word, or is not there, is not asked again. */
  async #askServers(host: string, type: RecordType, until: number): Promise<Settled | null> {
    const query = makeQuery(host, type, true)
    if (query === null) return null
    const done = new Set<Line>()
    let why: Failure | null = null
    let turn = this.#turn++
    for (let attempt = 0; attempt < this.#attempts && done.size < this.#lines.length; turn++) {
      const line = this.#lines[turn % this.#lines.length]!
      if (done.has(line)) continue
      attempt++
      const first = this.#understand(await line.udp.ask(query, this.#next(until)), query)
      const said = isSettled(first) ? first : await this.#askAgain(line, query, first, until)
      if (said.outcome !== 'failed' && said.outcome !== 'unreachable') return said
      if (said.outcome === 'unreachable' || WEIGHTS[said.why] === OWN_WORD) done.add(line)
      if (said.outcome === 'failed' && (why === null || WEIGHTS[said.why] > WEIGHTS[why])) why = said.why
    }
    return why === null ? null : { outcome: 'failed', why }
  }

  /** Without EDNS where that was not understood, and over TCP where the answer was cut off. */
  async #askAgain(line: Line, query: Query, first: Said, until: number): Promise<Settled | Unreachable> {
    let asked = query
    let said: Said | Unreachable = first
    if (said.outcome === 'unknown') {
      asked = makeQuery(query.host, query.type, false)!
      said = this.#understand(await line.udp.ask(asked, this.#next(until)), asked)
    }
    if (said.outcome === 'cut') said = this.#understand(await line.tcp.ask(asked, this.#next(until)), asked)
    if (said.outcome === 'unknown') return { outcome: 'failed', why: 'servfail' }
    return said.outcome === 'cut' ? { outcome: 'failed', why: 'malformed' } : said
  }

  #understand(heard: Heard, query: Query): Said | Unreachable {
    if (heard === 'unreachable') return { outcome: heard }
    if (typeof heard === 'string') return { outcome: 'failed', why: 'timeout' }
    this.#heard = performance.now()
    return readAnswer(heard, query)
  }

  /** Whether a server answered any question since then, or answers one now: where none does, silence says nothing of a name. */
  async #hasAnswered(since: number): Promise<boolean> {
    if (this.#heard < since) {
      this.#probe ??= this.#askServers('.', 'NS', performance.now() + this.#timeout)
      await this.#probe
      this.#probe = null
    }
    return this.#heard >= since
  }

  /** The moment at which an attempt that begins now is given up. */
  #next(until: number): number {
    return Math.min(until, performance.now() + this.#timeout)
  }
}

function isTimeout(said: Said | Unreachable): boolean {
  return said.outcome === 'failed' && said.why === 'timeout'
}

function isSettled(said: Said | Unreachable): said is Settled | Unreachable {
  return said.outcome !== 'unknown' && said.outcome !== 'cut'
}
