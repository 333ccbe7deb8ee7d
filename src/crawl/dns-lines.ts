/** The servers that questions go to, in turn: what the first that answers says, and which one it was. */

import type { RecordType } from '../words/record.ts'
import type { Ticket } from './dns-limiter.ts'
import { type Answered, type Failing, Line } from './dns-line.ts'
import { Paths } from './dns-path.ts'
import { makeQuery } from './dns-query.ts'
import type { Server } from './dns-server.ts'
import { dice } from './dns-waiting.ts'
import type { Failure } from './visit.ts'

/** An answer, whose it is, and the number of the socket that had asked. */
export type Told = { said: Answered; line: Line; socket: number }
/** What each server that was asked failed with, in its own order. */
export type Failed = { failures: ReadonlyMap<Line, readonly Attempt[]> }
/** An attempt that failed. */
type Attempt = { why: Failure; ticket: Ticket }
type Failures = Map<Line, Attempt[]>
type Question = { host: string; type: RecordType; until: number; isWorth?: (() => Promise<boolean>) | undefined }

export type LinesOptions = {
  /** Milliseconds until an attempt is given up, counted from when it is sent. */
  timeout: number
  /** Questions until one question of ours is given up, at least two; three more where those before may have failed by our load. */
  attempts: number
  /** UDP sockets a server. */
  sockets: number
  /** Milliseconds before a server is asked again that failed, three times as long each further time. */
  pause?: number
  paths?: Paths
  /** Its questions go before others, and its servers are believed when they fail at everything. */
  isSelfCheck?: boolean
}

/** A server's own word says more than an answer that cannot be read, and that more than none. */
const WEIGHTS: Readonly<Record<Failure, number>> = { timeout: 1, malformed: 2, lame: 3, refused: 3, servfail: 3 }
const OWN_WORD = 3
/** So many voices make a failure or NXDOMAIN a fact: of two servers, or twice that of the only one. */
const VOICES = 2
/** And so many of them are needed of an only server, or of two together: an overload that nobody notices fails a question or two. */
const FAILURES = 3
const MORE_ATTEMPTS = 6
/** BIND keeps a SERVFAIL for a second, Unbound for five: the second attempt is behind the first of these, the third behind both. */
export const PAUSE_MILLISECONDS = 1_600
const LATER_PAUSES = 3
/** Milliseconds until a question of ours is given up, its waits for a place in flight included. */
const PATIENCE = 40_000
/** A server that succeeded within so many milliseconds need not show again that it can. */
const LATELY = 10_000

export class Lines {
  /** How often a question that failed at one server, or was denied by it, was answered otherwise by another. */
  disagreements = 0
  readonly #all: readonly Line[]
  readonly #options: Required<LinesOptions>
  readonly #pauses = new Set<() => void>()
  #asked: readonly Line[]
  #turn = 0
  #isClosed = false

  constructor(servers: readonly Server[], options: LinesOptions) {
    this.#options = { pause: PAUSE_MILLISECONDS, isSelfCheck: false, paths: new Paths(), ...options }
    const { timeout, sockets, paths, isSelfCheck } = this.#options
    const distinct = new Map(servers.map((server) => [keyOf(server), server]))
    this.#all = [...distinct.values()].map(
      (server) => new Line(server, paths.of(server), { timeout, sockets, isUrgent: isSelfCheck }),
    )
    this.#asked = this.#all
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The moment of performance.now() at which a question that begins now is given up. */
  deadline(): number {
    const { isSelfCheck, attempts, timeout } = this.#options
    return performance.now() + (isSelfCheck ? attempts * timeout : PATIENCE)
  }

  leaveOut(servers: readonly Server[]): void {
    const left = new Set(servers.map(keyOf))
    this.#asked = this.#all.filter(({ server }) => !left.has(keyOf(server)))
  }

  /** Servers to which only questions without EDNS get through. */
  withoutEdns(): Server[] {
    return this.#all.filter(({ path }) => path.edns.isDropped).map(({ server }) => server)
  }

  /**
   * Null where no server could be asked, too few agree that the question fails, or our own load may be why. `until` of
   * deadline(); `isWorth` is asked before a question that failed is asked again.
   */
  async ask(
    host: string,
    type: RecordType,
    { until, isWorth }: { until: number; isWorth?: () => Promise<boolean> },
  ): Promise<Told | { said: Failing } | null> {
    const began = performance.now()
    const heard = await this.#try({ host, type, until, isWorth }, this.#asked, dice())
    if (!('failures' in heard)) return heard
    const why = await this.#agreed(heard.failures, began)
    if (why === null) return null
    for (const { path } of heard.failures.keys()) path.limiter.confirmDead()
    return { said: { outcome: 'failed', why } }
  }

  /** The same of servers that have not answered it yet; of the only one there is, from another socket. */
  askOthers(host: string, type: RecordType, told: readonly Told[]): Promise<Told | Failed> {
    const before = told.map(({ line }) => line)
    const others = this.#all.length === 1 ? this.#asked : this.#asked.filter((line) => !before.includes(line))
    return this.#try({ host, type, until: this.deadline() }, others, (told.at(-1)?.socket ?? 0) + 1)
  }

  close(): void {
    this.#isClosed = true
    for (const line of this.#all) line.close()
    for (const end of this.#pauses) end()
  }

  /**
   * Asks one server after another, and after a pause again those that failed, as that may have been the load's. A server
   * that gave its word often enough, or is not there, is not asked again.
   */
  async #try(question: Question, lines: readonly Line[], first: number): Promise<Told | Failed> {
    const { host, type, until } = question
    const failures: Failures = new Map()
    if (makeQuery(host, type, true) === null) return { failures }
    const gone = new Set<Line>()
    const turn = this.#turn++
    const most = Math.max(FAILURES, this.#options.attempts)
    for (let attempt = 0; attempt < most + MORE_ATTEMPTS && !this.#isAgreed(failures); attempt++) {
      const left = most - gone.size - calmIn(failures)
      if (left <= 0) break
      const line = this.#choose(lines, turn, failures, gone)
      const mine = line === null ? [] : (failures.get(line) ?? [])
      if (line === null || !(await this.#mayAskAgain(question, failures, mine))) break
      const hasTimedOut = mine.some(({ why }) => why === 'timeout')
      const how = { isAgain: mine.length > 0, attempt, hasTimedOut, isLast: left === 1 }
      const socket = first + attempt
      const { said, ticket } = await line.ask({ host, type, socket, until, ...how })
      if (said.outcome === 'unreachable' || ticket === null) gone.add(line)
      else if (said.outcome !== 'failed') return this.#tell(failures, { said, line, socket })
      else failures.set(line, [...mine, { why: said.why, ticket }])
    }
    return { failures }
  }

  /** Where the failures before were not the host's, the limiters hear of it. */
  #tell(failures: Failures, told: Told): Told {
    for (const [line, attempts] of failures) {
      if (line !== told.line && attempts.some(({ why }) => isOwnWord(why))) this.disagreements++
      if (!line.path.edns.isDropped) line.path.limiter.recovered(attempts[0]!.ticket)
    }
    return told
  }

  /** Of those that are still to be asked one that failed least often, where questions need not wait; null for none. */
  #choose(lines: readonly Line[], turn: number, failures: Failures, gone: ReadonlySet<Line>): Line | null {
    let best: Line | null = null
    let least = Number.POSITIVE_INFINITY
    for (let index = 0; index < lines.length; index++) {
      const line = lines[(turn + index) % lines.length]!
      const mine = failures.get(line) ?? []
      if (gone.has(line) || voicesIn(line, mine) >= FAILURES) continue
      const weight = mine.length * 1e6 + line.path.limiter.pressure
      if (weight < least) [best, least] = [line, weight]
    }
    return best
  }

  /** Whether two servers gave their word, and one was asked again after a pause. */
  #isAgreed(failures: Failures): boolean {
    const voices = [...failures].map(([line, attempts]) => voicesIn(line, attempts)).filter((count) => count > 0)
    return voices.length >= VOICES && voices.reduce((sum, count) => sum + count) >= FAILURES
  }

  /** What a question failed with, where enough voices say so. The silence of a server that answers nothing else is none. */
  async #agreed(failures: Failed['failures'], began: number): Promise<Failure | null> {
    let [servers, voices] = [0, 0]
    let why: Failure | null = null
    for (const [line, attempts] of failures) {
      const whys = attempts.filter(({ ticket }) => !line.path.limiter.doubts(ticket)).map((attempt) => attempt.why)
      const [own] = whys.toSorted((a, b) => WEIGHTS[b] - WEIGHTS[a])
      if (own === undefined || !(await this.#isHeard(line, own, began))) continue
      servers++
      voices += whys.length
      if (why === null || WEIGHTS[own] > WEIGHTS[why]) why = own
    }
    return voices >= FAILURES && servers >= Math.min(VOICES, this.#all.length) ? why : null
  }

  /** Whether a server's failure says anything: one that fails at everything says nothing about one host. */
  #isHeard(line: Line, why: Failure, began: number): Promise<boolean> | boolean {
    if (why === 'timeout') return line.answersSince(began)
    const mayBeOurs = why === 'refused' || why === 'servfail'
    return this.#options.isSelfCheck || !mayBeOurs || line.succeedsSince(Math.min(began, performance.now() - LATELY))
  }

  /** Waits before a server is asked again that failed; a time-out was a wait already. */
  async #mayAskAgain({ isWorth }: Question, failures: Failures, attempts: readonly Attempt[]): Promise<boolean> {
    const last = attempts.at(-1)
    if (failures.size > 0 && isWorth !== undefined && !(await isWorth())) return false
    if (last !== undefined && last.why !== 'timeout' && !this.#isClosed) {
      const spread = 0.8 + 0.4 * Math.random()
      await this.#wait(this.#options.pause * (attempts.length === 1 ? 1 : LATER_PAUSES) * spread)
    }
    return !this.#isClosed
  }

  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        this.#pauses.delete(end)
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      this.#pauses.add(end)
    })
  }
}

/** Attempts that failed, and not by the load. */
function calmIn(failures: Failures): number {
  let count = 0
  for (const [line, attempts] of failures) {
    for (const { ticket } of attempts) if (!line.path.limiter.doubts(ticket)) count++
  }
  return count
}

/** How often a server gave its own word while it was not asked more than it bears. */
function voicesIn(line: Line, attempts: readonly Attempt[]): number {
  return attempts.filter(({ why, ticket }) => isOwnWord(why) && !line.path.limiter.doubts(ticket)).length
}

function isOwnWord(why: Failure): boolean {
  return WEIGHTS[why] === OWN_WORD
}

function keyOf({ address, port }: Server): string {
  return `${address} ${port}`
}
