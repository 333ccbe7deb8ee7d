/** The servers that questions go to, in turn: what the first that answers says, and which one it was. */

import type { RecordType } from '../../values/dns-record.ts'
import type { DnsFailure } from '../probe-result.ts'
import {
  explicitFailuresOf,
  type FailedAttempt,
  type FailuresByServer,
  failuresWithoutOverload,
  heaviestFailure,
  isAgreedFailure,
  isExplicitFailure,
  MIN_AGREEING_FAILURES,
  MIN_AGREEING_SERVERS,
} from './failure-evidence.ts'
import { random16 } from './pending-queries.ts'
import { encodeQuery } from './query.ts'
import type { DnsServer } from './server.ts'
import { DnsServerClient, type FailedReply, type PositiveReply } from './server-client.ts'
import { DnsServerPaths } from './server-path.ts'

/** An answer, whose it is, and the number of the socket that had asked. */
export type ServerAnswer = { reply: PositiveReply; server: DnsServerClient; socket: number }
/** What each server that was asked failed with, in its own order. */
export type ServerFailures = { failures: ReadonlyMap<DnsServerClient, readonly FailedAttempt[]> }
type DnsQuestion = {
  host: string
  type: RecordType
  deadline: number
  shouldRetry?: (() => Promise<boolean>) | undefined
}

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
   * deadline(); `shouldRetry` is asked before a question that failed is asked again.
   */
  async query(
    host: string,
    type: RecordType,
    { deadline, shouldRetry }: { deadline: number; shouldRetry?: () => Promise<boolean> },
  ): Promise<ServerAnswer | { reply: FailedReply } | null> {
    const startedAt = performance.now()
    const result = await this.#try({ host, type, deadline, shouldRetry }, this.#included, random16())
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
    const previous = answers.map(({ server }) => server)
    const isSingle = this.#servers.length === 1
    const others = isSingle ? this.#included : this.#included.filter((each) => !previous.includes(each))
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
    for (let attempt = 0; attempt < maxAttempts + EXTRA_ATTEMPTS && !isAgreedFailure(failures); attempt++) {
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

  /** What a question failed with, where enough voices say so. The silence of a server that answers nothing else is none. */
  async #agreedFailure(failures: ServerFailures['failures'], startedAt: number): Promise<DnsFailure | null> {
    let [servers, voices] = [0, 0]
    let why: DnsFailure | null = null
    for (const [line, attempts] of failures) {
      const { limiter } = line.path
      const whys = attempts.filter(({ ticket }) => !limiter.mayBeOverload(ticket)).map(({ why }) => why)
      const heaviest = heaviestFailure(whys)
      if (heaviest === null || !(await this.#countsAsEvidence(line, heaviest, startedAt))) continue
      servers++
      voices += whys.length
      why = why === null ? heaviest : heaviestFailure([why, heaviest])
    }
    const isAgreed = voices >= MIN_AGREEING_FAILURES && servers >= Math.min(MIN_AGREEING_SERVERS, this.#servers.length)
    return isAgreed ? why : null
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
    { shouldRetry }: DnsQuestion,
    failures: FailuresByServer,
    attempts: readonly FailedAttempt[],
  ): Promise<boolean> {
    const last = attempts.at(-1)
    if (failures.size > 0 && shouldRetry !== undefined && !(await shouldRetry())) return false
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

function serverKey({ address, port }: DnsServer): string {
  return `${address} ${port}`
}
