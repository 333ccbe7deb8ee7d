/** The servers that questions go to, in turn: what the first that answers says, and which one it was. */

import type { RecordType } from '../words/record.ts'
import { readAnswer, type Said } from './dns-answer.ts'
import { makeQuery, type Query } from './dns-query.ts'
import type { Server } from './dns-server.ts'
import { TcpLink } from './dns-tcp.ts'
import { UdpPool } from './dns-udp.ts'
import { dice, type Heard } from './dns-waiting.ts'
import type { Failure } from './visit.ts'

/** One server. `heard`: when it answered last, of performance.now(). */
export type Line = {
  readonly server: Server
  readonly udp: UdpPool
  readonly tcp: TcpLink
  heard: number
  probe: Promise<unknown> | null
}

/** An answer, whose it is, and the number of the socket that had asked. */
export type Told = { said: Extract<Said, { outcome: 'records' | 'nxdomain' }>; line: Line; socket: number }
/** What each server that was asked failed with, in its own order. */
export type Failed = { failures: ReadonlyMap<Line, readonly Failure[]> }

type Failing = Extract<Said, { outcome: 'failed' }>
type Settled = Told['said'] | Failing | { outcome: 'unreachable' }

/** A server's own word says more than an answer that cannot be read, and that more than none. */
const WEIGHTS: Readonly<Record<Failure, number>> = { timeout: 1, malformed: 2, lame: 3, refused: 3, servfail: 3 }
const OWN_WORD = 3
/** So many voices make a failure or NXDOMAIN a fact: of two servers, or twice that of the only one. */
const VOICES = 2

export class Lines {
  /** How often a question that failed at one server, or was denied by it, was answered otherwise by another. */
  disagreements = 0
  readonly #all: readonly Line[]
  readonly #timeout: number
  readonly #attempts: number
  #asked: readonly Line[]
  #turn = 0
  #isClosed = false

  /** `timeout` in milliseconds; `attempts`: questions until one question of ours is given up, at least two. */
  constructor(
    servers: readonly Server[],
    { timeout, attempts, sockets }: Record<'timeout' | 'attempts' | 'sockets', number>,
  ) {
    const distinct = new Map(servers.map((server) => [keyOf(server), server]))
    this.#all = [...distinct.values()].map((server) => ({
      server,
      udp: new UdpPool(server, sockets),
      tcp: new TcpLink(server),
      heard: Number.NEGATIVE_INFINITY,
      probe: null,
    }))
    this.#asked = this.#all
    this.#timeout = timeout
    this.#attempts = Math.max(VOICES, attempts)
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The moment of performance.now() at which a question that begins now is given up. */
  deadline(): number {
    return performance.now() + this.#attempts * this.#timeout
  }

  leaveOut(servers: readonly Server[]): void {
    const left = new Set(servers.map(keyOf))
    this.#asked = this.#all.filter(({ server }) => !left.has(keyOf(server)))
  }

  /** Null where no server could be asked, or too few agree that the question fails. */
  async ask(host: string, type: RecordType, until: number): Promise<Told | { said: Failing } | null> {
    const began = performance.now()
    const heard = await this.#try(host, type, until, this.#asked, dice())
    if (!('failures' in heard)) return heard
    const why = await this.#agreed(heard.failures, began)
    return why === null ? null : { said: { outcome: 'failed', why } }
  }

  /** The same of servers that have not answered it yet; of the only one there is, from another socket. */
  askOthers(host: string, type: RecordType, told: readonly Told[]): Promise<Told | Failed> {
    const before = told.map(({ line }) => line)
    const others = this.#all.length === 1 ? this.#asked : this.#asked.filter((line) => !before.includes(line))
    return this.#try(host, type, this.deadline(), others, (told.at(-1)?.socket ?? 0) + 1)
  }

  close(): void {
    this.#isClosed = true
    for (const { udp, tcp } of this.#all) {
      udp.close()
      tcp.close()
    }
  }

  /** A server that gave its word as often as needed, or is not there, is not asked again. */
  async #try(
    host: string,
    type: RecordType,
    until: number,
    lines: readonly Line[],
    first: number,
  ): Promise<Told | Failed> {
    const failures = new Map<Line, Failure[]>()
    const query = makeQuery(host, type, true)
    if (query === null) return { failures }
    const done = new Set<Line>()
    let turn = this.#turn++
    for (let attempt = 0; attempt < this.#attempts && done.size < lines.length; turn++) {
      const line = lines[turn % lines.length]!
      if (done.has(line)) continue
      const socket = first + attempt++
      const said = await this.#askLine(line, query, socket, until)
      if (said.outcome === 'unreachable') done.add(line)
      else if (said.outcome === 'failed') {
        const mine = [...(failures.get(line) ?? []), said.why]
        failures.set(line, mine)
        if (mine.filter(isOwnWord).length === (this.#all.length === 1 ? VOICES : 1)) done.add(line)
      } else {
        if ([...failures].some(([other, whys]) => other !== line && whys.some(isOwnWord))) this.disagreements++
        return { said, line, socket }
      }
    }
    return { failures }
  }

  /** What a question failed with, where enough voices say so. The silence of a server that answers nothing else is none. */
  async #agreed(failures: Failed['failures'], began: number): Promise<Failure | null> {
    let voices = 0
    let why: Failure | null = null
    for (const [line, whys] of failures) {
      const [own] = whys.toSorted((a, b) => WEIGHTS[b] - WEIGHTS[a])
      if (own === undefined || (own === 'timeout' && !(await this.#answers(line, began)))) continue
      voices += this.#all.length === 1 ? whys.length : 1
      if (why === null || WEIGHTS[own] > WEIGHTS[why]) why = own
    }
    return voices >= VOICES ? why : null
  }

  /** Without EDNS where that was not understood, and over TCP where the answer was cut off. */
  async #askLine(line: Line, query: Query, socket: number, until: number): Promise<Settled> {
    let asked = query
    let said = understand(line, await line.udp.ask(asked, this.#next(until), socket), asked)
    if (said.outcome === 'unknown') {
      asked = makeQuery(query.host, query.type, false)!
      said = understand(line, await line.udp.ask(asked, this.#next(until), socket), asked)
    }
    if (said.outcome === 'cut') said = understand(line, await line.tcp.ask(asked, this.#next(until)), asked)
    if (said.outcome === 'unknown') return { outcome: 'failed', why: 'servfail' }
    return said.outcome === 'cut' ? { outcome: 'failed', why: 'malformed' } : said
  }

  /** Whether a server answered any question since then, or answers one now. */
  async #answers(line: Line, since: number): Promise<boolean> {
    if (line.heard < since) {
      line.probe ??= this.#askLine(line, makeQuery('.', 'NS', true)!, dice(), performance.now() + this.#timeout)
      await line.probe
      line.probe = null
    }
    return line.heard >= since
  }

  /** The moment at which an attempt that begins now is given up. */
  #next(until: number): number {
    return Math.min(until, performance.now() + this.#timeout)
  }
}

function understand(line: Line, heard: Heard, query: Query): Said | { outcome: 'unreachable' } {
  if (heard === 'unreachable') return { outcome: heard }
  if (typeof heard === 'string') return { outcome: 'failed', why: 'timeout' }
  line.heard = performance.now()
  return readAnswer(heard, query)
}

function isOwnWord(why: Failure): boolean {
  return WEIGHTS[why] === OWN_WORD
}

function keyOf({ address, port }: Server): string {
  return `${address} ${port}`
}
