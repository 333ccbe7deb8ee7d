/** The resolver's side of a visit: one question in, what the operator's resolvers make of it out. */

import type { RecordType } from '../words/record.ts'
import { MOST_ALIASES, readAnswer, type Said } from './dns-answer.ts'
import { makeQuery, type Query } from './dns-query.ts'
import type { Server } from './dns-server.ts'
import { TcpLink } from './dns-tcp.ts'
import { UdpPool } from './dns-udp.ts'
import type { Answer, Failure } from './visit.ts'

export { parseServer, type Server, systemServers } from './dns-server.ts'

export type Resolver = {
  /**
   * Asks for one type at a host in presentation form, for at most `attempts` times `timeout`. Never rejects. Null: it could
   * not be asked for a reason of ours (no resolver at that port, no route, closed, no host).
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
/** What one server made of it; `unreachable`: it could not be asked. */
type Settled = Exclude<Said, { outcome: 'unknown' | 'cut' }> | 'unreachable'

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
  #isClosed = false

  constructor({ servers, timeout = TIMEOUT_MILLISECONDS, attempts = ATTEMPTS, sockets = SOCKETS }: ResolverOptions) {
    this.#lines = servers.map((server) => ({ udp: new UdpPool(server, sockets), tcp: new TcpLink(server) }))
    this.#timeout = timeout
    this.#attempts = attempts
  }

  /** Where a server stopped at an alias, addresses are asked of its target; the name itself has nothing else there. */
  async ask(host: string, type: RecordType): Promise<Answer | null> {
    const until = performance.now() + this.#attempts * this.#timeout
    const aliases: string[] = []
    for (let at = host; ; at = aliases.at(-1)!) {
      const said = await this.#askServers(at, type, until)
      if (said === null || this.#isClosed) return null
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

  /** Null where no server could be asked. */
  async #askServers(host: string, type: RecordType, until: number): Promise<Exclude<Settled, 'unreachable'> | null> {
    const query = makeQuery(host, type, true)
    if (query === null) return null
    const lines = this.#inTurn()
    let why: Failure | null = null
    for (let attempt = 0; attempt < this.#attempts && lines.length > 0; attempt++) {
      const line = lines.shift()!
      const said = await this.#askLine(line, query, until)
      if (said === 'unreachable') continue
      if (said.outcome !== 'failed') return said
      if (why === null || WEIGHTS[said.why] > WEIGHTS[why]) why = said.why
      if (WEIGHTS[said.why] < OWN_WORD) lines.push(line)
    }
    return why === null ? null : { outcome: 'failed', why }
  }

  #inTurn(): Line[] {
    const from = this.#turn++ % Math.max(1, this.#lines.length)
    return [...this.#lines.slice(from), ...this.#lines.slice(0, from)]
  }

  /** Over UDP; once more without EDNS where that is not understood, and over TCP where the answer was cut off. */
  async #askLine(line: Line, query: Query, until: number): Promise<Settled> {
    let asked = query
    let said = await this.#understand(line.udp, asked, until)
    if (said !== 'unreachable' && said.outcome === 'unknown') {
      asked = makeQuery(query.host, query.type, false)!
      said = await this.#understand(line.udp, asked, until)
    }
    if (said !== 'unreachable' && said.outcome === 'cut') said = await this.#understand(line.tcp, asked, until)
    if (said === 'unreachable') return said
    if (said.outcome === 'unknown') return { outcome: 'failed', why: 'servfail' }
    return said.outcome === 'cut' ? { outcome: 'failed', why: 'malformed' } : said
  }

  async #understand(way: UdpPool | TcpLink, query: Query, until: number): Promise<Said | 'unreachable'> {
    const left = Math.min(this.#timeout, until - performance.now())
    if (left <= 0) return { outcome: 'failed', why: 'timeout' }
    const heard = await way.ask(query, left)
    if (heard === 'unreachable') return heard
    return heard === 'timeout' ? { outcome: 'failed', why: 'timeout' } : readAnswer(heard, query)
  }
}
