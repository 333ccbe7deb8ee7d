/** The servers that questions go to, in turn: what the first that answers says, and which one it was. */

import type { RecordType } from '../../values/dns-record.ts'
import type { DnsFailure } from '../probe-result.ts'
import type { QueryTicket } from './concurrency-limiter.ts'
import { random16 } from './pending-queries.ts'
import { encodeQuery } from './query.ts'
import type { DnsServer } from './server.ts'
import { DnsServerClient, type FailedReply, type PositiveReply } from './server-client.ts'
import { DnsServerPaths } from './server-path.ts'

/** An answer, whose it is, and the number of the socket that had asked. */
export type ServerAnswer = { reply: PositiveReply; server: DnsServerClient; socket: number }
/** What each server that was asked failed with, in its own order. */
export type ServerFailures = { failures: ReadonlyMap<DnsServerClient, readonly FailedAttempt[]> }
/** An attempt that failed. */
type FailedAttempt = { why: DnsFailure; ticket: QueryTicket }
type FailuresByServer = Map<DnsServerClient, FailedAttempt[]>
type DnsQuestion = { host: string; type: RecordType; deadline: number; isWorth?: (() => Promise<boolean>) | undefined }

export type DnsServerPoolOptions = {
  /** Milliseconds until an attempt is given up, counted from when it is sent. */
  timeout: number
  /** Questions until one question of ours is given up, at least two; three more where those before may have failed by our load. */
  attempts: number
  /** UDP sockets a server. */
  sockets: number
  /** Milliseconds before a server is asked again that failed, three times as long each further time. */
  pause?: number
  paths?: DnsServerPaths
  /** Its questions go before others, and its servers are believed when they fail at everything. */
  isSelfCheck?: boolean
}

/** A server's own word says more than an answer that cannot be read, and that more than none. */
const FAILURE_WEIGHTS: Readonly<Record<DnsFailure, number>> = {
  timeout: 1,
  malformed: 2,
  lame: 3,
  refused: 3,
  servfail: 3,
}
const EXPLICIT_FAILURE_WEIGHT = 3
/** So many voices make a failure or NXDOMAIN a fact: of two servers, or twice that of the only one. */
const MIN_AGREEING_SERVERS = 2
/** And so many of them are needed of an only server, or of two together: an overload that nobody notices fails a question or two. */
const MIN_AGREEING_FAILURES = 3
const EXTRA_ATTEMPTS = 6
/** BIND keeps a SERVFAIL for a second, Unbound for five: the second attempt is behind the first of these, the third behind both. */
export const RETRY_DELAY_MS = 1_600
const LATER_RETRY_FACTOR = 3
/** Milliseconds until a question of ours is given up, its waits for a place in flight included. */
const QUERY_TIMEOUT_MS = 40_000
/** A server that succeeded within so many milliseconds need not show again that it can. */
const RECENT_SUCCESS_MS = 10_000

export class DnsServerPool {
  /** How often a question that failed at one server, or was denied by it, was answered otherwise by another. */
  disagreements = 0
  readonly #servers: readonly DnsServerClient[]
  readonly #options: Required<DnsServerPoolOptions>
  readonly #retryTimers = new Set<() => void>()
  #included: readonly DnsServerClient[]
  #nextServer = 0
  #isClosed = false

  constructor(servers: readonly DnsServer[], options: DnsServerPoolOptions) {
    this.#options = { pause: RETRY_DELAY_MS, isSelfCheck: false, paths: new DnsServerPaths(), ...options }
    const { timeout, sockets, paths, isSelfCheck } = this.#options
    const distinct = new Map(servers.map((server) => [serverKey(server), server]))
    this.#servers = [...distinct.values()].map(
      (server) => new DnsServerClient(server, paths.of(server), { timeout, sockets, isUrgent: isSelfCheck }),
    )
    this.#included = this.#servers
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The moment of performance.now() at which a question that begins now is given up. */
  deadline(): number {
    const { isSelfCheck, attempts, timeout } = this.#options
    return performance.now() + (isSelfCheck ? attempts * timeout : QUERY_TIMEOUT_MS)
  }

  exclude(servers: readonly DnsServer[]): void {
    const left = new Set(servers.map(serverKey))
    this.#included = this.#servers.filter(({ server }) => !left.has(serverKey(server)))
  }

  /** Servers to which only questions without EDNS get through. */
  withoutEdns(): DnsServer[] {
    return this.#servers.filter(({ path }) => path.edns.isDropped).map(({ server }) => server)
  }

  /**
   * Null where no server could be asked, too few agree that the question fails, or our own load may be why. `until` of
   * deadline(); `isWorth` is asked before a question that failed is asked again.
   */
  async query(
    host: string,
    type: RecordType,
    { deadline, isWorth }: { deadline: number; isWorth?: () => Promise<boolean> },
  ): Promise<ServerAnswer | { reply: FailedReply } | null> {
    const startedAt = performance.now()
    const result = await this.#try({ host, type, deadline, isWorth }, this.#included, random16())
    if (!('failures' in result)) return result
    const why = await this.#agreedFailure(result.failures, startedAt)
    if (why === null) return null
    for (const { path } of result.failures.keys()) path.limiter.recordDeadHost()
    return { reply: { outcome: 'failed', why } }
  }

  /** The same of servers that have not answered it yet; of the only one there is, from another socket. */
  queryOthers(
    host: string,
    type: RecordType,
    answers: readonly ServerAnswer[],
  ): Promise<ServerAnswer | ServerFailures> {
    const previous = answers.map(({ server: line }) => line)
    const others =
      this.#servers.length === 1 ? this.#included : this.#included.filter((line) => !previous.includes(line))
    return this.#try({ host, type, deadline: this.deadline() }, others, (answers.at(-1)?.socket ?? 0) + 1)
  }

  close(): void {
    this.#isClosed = true
    for (const line of this.#servers) line.close()
    for (const end of this.#retryTimers) end()
  }

  /**
   * Asks one server after another, and after a pause again those that failed, as that may have been the load's. A server
   * that gave its word often enough, or is not there, is not asked again.
   */
  async #try(
    question: DnsQuestion,
    servers: readonly DnsServerClient[],
    first: number,
  ): Promise<ServerAnswer | ServerFailures> {
    const { host, type, deadline: until } = question
    const failures: FailuresByServer = new Map()
    if (encodeQuery(host, type, true) === null) return { failures }
    const unreachable = new Set<DnsServerClient>()
    const firstServer = this.#nextServer++
    const maxAttempts = Math.max(MIN_AGREEING_FAILURES, this.#options.attempts)
    for (let attempt = 0; attempt < maxAttempts + EXTRA_ATTEMPTS && !this.#isAgreed(failures); attempt++) {
      const attemptsLeft = maxAttempts - unreachable.size - failuresWithoutOverload(failures)
      if (attemptsLeft <= 0) break
      const server = this.#choose(servers, firstServer, failures, unreachable)
      const earlierAttempts = server === null ? [] : (failures.get(server) ?? [])
      if (server === null || !(await this.#awaitRetry(question, failures, earlierAttempts))) break
      const hasTimedOut = earlierAttempts.some(({ why }) => why === 'timeout')
      const attemptOptions = { isRetry: earlierAttempts.length > 0, attempt, hasTimedOut, isLast: attemptsLeft === 1 }
      const socket = first + attempt
      const { reply, ticket } = await server.query({ host, type, socket, deadline: until, ...attemptOptions })
      if (reply.outcome === 'unreachable' || ticket === null) unreachable.add(server)
      else if (reply.outcome !== 'failed') return this.#recordAnswer(failures, { reply, server, socket })
      else failures.set(server, [...earlierAttempts, { why: reply.why, ticket }])
    }
    return { failures }
  }

  /** Where the failures before were not the host's, the limiters hear of it. */
  #recordAnswer(failures: FailuresByServer, answer: ServerAnswer): ServerAnswer {
    for (const [line, attempts] of failures) {
      if (line !== answer.server && attempts.some(({ why }) => isExplicitFailure(why))) this.disagreements++
      if (!line.path.edns.isDropped) line.path.limiter.recordRecovery(attempts[0]!.ticket)
    }
    return answer
  }

  /** Of those that are still to be asked one that failed least often, where questions need not wait; null for none. */
  #choose(
    servers: readonly DnsServerClient[],
    firstServer: number,
    failures: FailuresByServer,
    unreachable: ReadonlySet<DnsServerClient>,
  ): DnsServerClient | null {
    let best: DnsServerClient | null = null
    let leastWeight = Number.POSITIVE_INFINITY
    for (let index = 0; index < servers.length; index++) {
      const server = servers[(firstServer + index) % servers.length]!
      const earlierAttempts = failures.get(server) ?? []
      if (unreachable.has(server) || explicitFailuresOf(server, earlierAttempts) >= MIN_AGREEING_FAILURES) continue
      const weight = earlierAttempts.length * 1e6 + server.path.limiter.pressure
      if (weight < leastWeight) [best, leastWeight] = [server, weight]
    }
    return best
  }

  /** Whether two servers gave their word, and one was asked again after a pause. */
  #isAgreed(failures: FailuresByServer): boolean {
    const voices = [...failures]
      .map(([line, attempts]) => explicitFailuresOf(line, attempts))
      .filter((count) => count > 0)
    return voices.length >= MIN_AGREEING_SERVERS && voices.reduce((sum, count) => sum + count) >= MIN_AGREEING_FAILURES
  }

  /** What a question failed with, where enough voices say so. The silence of a server that answers nothing else is none. */
  async #agreedFailure(failures: ServerFailures['failures'], startedAt: number): Promise<DnsFailure | null> {
    let [servers, voices] = [0, 0]
    let why: DnsFailure | null = null
    for (const [line, attempts] of failures) {
      const whys = attempts
        .filter(({ ticket }) => !line.path.limiter.mayBeOverload(ticket))
        .map((attempt) => attempt.why)
      const [heaviest] = whys.toSorted((a, b) => FAILURE_WEIGHTS[b] - FAILURE_WEIGHTS[a])
      if (heaviest === undefined || !(await this.#countsAsEvidence(line, heaviest, startedAt))) continue
      servers++
      voices += whys.length
      if (why === null || FAILURE_WEIGHTS[heaviest] > FAILURE_WEIGHTS[why]) why = heaviest
    }
    return voices >= MIN_AGREEING_FAILURES && servers >= Math.min(MIN_AGREEING_SERVERS, this.#servers.length)
      ? why
      : null
  }

  /** Whether a server's failure says anything: one that fails at everything says nothing about one host. */
  #countsAsEvidence(server: DnsServerClient, why: DnsFailure, startedAt: number): Promise<boolean> | boolean {
    if (why === 'timeout') return server.answersSince(startedAt)
    const mayBeOverload = why === 'refused' || why === 'servfail'
    return (
      this.#options.isSelfCheck ||
      !mayBeOverload ||
      server.succeedsSince(Math.min(startedAt, performance.now() - RECENT_SUCCESS_MS))
    )
  }

  /** Waits before a server is asked again that failed; a time-out was a wait already. */
  async #awaitRetry(
    { isWorth }: DnsQuestion,
    failures: FailuresByServer,
    attempts: readonly FailedAttempt[],
  ): Promise<boolean> {
    const last = attempts.at(-1)
    if (failures.size > 0 && isWorth !== undefined && !(await isWorth())) return false
    if (last !== undefined && last.why !== 'timeout' && !this.#isClosed) {
      const spread = 0.8 + 0.4 * Math.random()
      await this.#wait(this.#options.pause * (attempts.length === 1 ? 1 : LATER_RETRY_FACTOR) * spread)
    }
    return !this.#isClosed
  }

  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        this.#retryTimers.delete(end)
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      this.#retryTimers.add(end)
    })
  }
}

/** Attempts that failed, and not by the load. */
function failuresWithoutOverload(failures: FailuresByServer): number {
  let count = 0
  for (const [line, attempts] of failures) {
    for (const { ticket } of attempts) if (!line.path.limiter.mayBeOverload(ticket)) count++
  }
  return count
}

/** How often a server gave its own word while it was not asked more than it bears. */
function explicitFailuresOf(server: DnsServerClient, attempts: readonly FailedAttempt[]): number {
  return attempts.filter(({ why, ticket }) => isExplicitFailure(why) && !server.path.limiter.mayBeOverload(ticket))
    .length
}

function isExplicitFailure(why: DnsFailure): boolean {
  return FAILURE_WEIGHTS[why] === EXPLICIT_FAILURE_WEIGHT
}

function serverKey({ address, port }: DnsServer): string {
  return `${address} ${port}`
}
