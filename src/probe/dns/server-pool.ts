/** The pool of DNS servers, queried in turn: returns the first answer and the server that gave it. */

import type { RecordType } from '../../values/records/dns-record.ts'
import type { DnsFailure } from '../probe-result.ts'
import type { QueryTicket } from './concurrency-limiter.ts'
import { random16 } from './pending-queries.ts'
import type { DnsServer } from './server.ts'
import { DnsServerClient, type FailedReply, type PositiveReply } from './server-client.ts'
import { DnsServerPaths } from './server-path.ts'

type FailedAttempt = { why: DnsFailure; ticket: QueryTicket }
type FailuresByServer = ReadonlyMap<DnsServerClient, readonly FailedAttempt[]>

/** An explicit failure of the server weighs more than a malformed answer, and that weighs more than silence. */
const FAILURE_WEIGHTS: Readonly<Record<DnsFailure, number>> = {
  timeout: 1,
  malformed: 2,
  lame: 3,
  refused: 3,
  servfail: 3,
}
const EXPLICIT_FAILURE_WEIGHT = 3

/** A failure or NXDOMAIN needs the agreement of this many servers, or as many answers of a single server. */
const MIN_AGREEING_SERVERS = 2

/** A failure needs this many failed attempts in total. An unnoticed overload fails only one or two queries. */
const MIN_AGREEING_FAILURES = 3

/** An answer, its server, and the number of the socket that sent the query. */
export type ServerAnswer = { reply: PositiveReply; server: DnsServerClient; socket: number }
/** The failed attempts of each queried server, in order. */
export type ServerFailures = { failures: FailuresByServer }
type DnsQuestion = {
  host: string
  type: RecordType
  deadline: number
  shouldRetry?: (() => Promise<boolean>) | undefined
}

type DnsServerPoolOptions = {
  /** Milliseconds after which an attempt times out, counted from when it is sent. */
  timeoutMs: number
  /** Attempts per query, at least two. Attempts that failed in an overload do not count. */
  attempts: number
  /** UDP sockets per server. */
  sockets: number
  /** Milliseconds before a failed server is queried again. Each later delay is three times as long. */
  retryDelayMs?: number
  paths?: DnsServerPaths
  /** Self-check queries precede others, and a server that fails every query counts as evidence. */
  isSelfCheck?: boolean
}

/**
 * BIND caches a SERVFAIL for one second, Unbound for five. The second attempt outlasts the first cache, the third both.
 */
export const RETRY_DELAY_MS = 1_600
const LATER_RETRY_FACTOR = 3
const NO_ATTEMPTS: readonly FailedAttempt[] = []
const NO_FAILURES: FailuresByServer = new Map()
/** Milliseconds after which a query times out, including its waits for a place in flight. */
const QUERY_TIMEOUT_MS = 40_000
/** A server that succeeded within this many milliseconds need not prove again that it works. */
const RECENT_SUCCESS_MS = 10_000

export class DnsServerPool {
  /** How often another server gave a different answer after one server failed or denied the host. */
  disagreements = 0
  readonly #servers: readonly DnsServerClient[]
  readonly #options: Required<DnsServerPoolOptions>
  readonly #retryTimers = new Set<() => void>()
  #included: readonly DnsServerClient[]
  #nextServer = 0
  #isClosed = false

  constructor(servers: readonly DnsServer[], options: DnsServerPoolOptions) {
    this.#options = { retryDelayMs: RETRY_DELAY_MS, isSelfCheck: false, paths: new DnsServerPaths(), ...options }
    const { timeoutMs, sockets, paths, isSelfCheck } = this.#options
    const distinct = new Map(servers.map((server) => [serverKey(server), server]))
    this.#servers = [...distinct.values()].map(
      (server) => new DnsServerClient(server, paths.of(server), { timeoutMs, sockets, isUrgent: isSelfCheck }),
    )
    this.#included = this.#servers
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The time of performance.now() at which a query that starts now times out. */
  deadline(): number {
    const { isSelfCheck, attempts, timeoutMs } = this.#options
    return performance.now() + (isSelfCheck ? attempts * timeoutMs : QUERY_TIMEOUT_MS)
  }

  exclude(servers: readonly DnsServer[]): void {
    const left = new Set(servers.map(serverKey))
    this.#included = this.#servers.filter(({ server }) => !left.has(serverKey(server)))
  }

  /** What each server replies for the root: `timeout` if it does not reply. */
  rootReplies(): Promise<{ server: DnsServer; reply: 'ok' | DnsFailure }[]> {
    return Promise.all(
      this.#servers.map(async (client) => ({ server: client.server, reply: await client.rootReply() })),
    )
  }

  /** The servers that only queries without EDNS reach. */
  withoutEdns(): DnsServer[] {
    return this.#servers.filter(({ path }) => path.edns.isDropped).map(({ server }) => server)
  }

  /**
   * Queries the servers. Returns null if no server was reachable, too few agree on the failure, or overload may explain
   * it. `deadline`: from deadline(). `shouldRetry` is called before each retry.
   */
  query(
    host: string,
    type: RecordType,
    { deadline, shouldRetry }: Pick<DnsQuestion, 'deadline' | 'shouldRetry'>,
  ): Promise<ServerAnswer | { reply: FailedReply } | null> {
    const startedAt = performance.now()
    const question = { host, type, deadline, shouldRetry }
    return this.#try(question, this.#included, random16(), (failures) => this.#agreedFailure(failures, startedAt))
  }

  /** Queries servers that have not answered yet. A single configured server is queried again from another socket. */
  queryOthers(
    host: string,
    type: RecordType,
    answers: readonly ServerAnswer[],
  ): Promise<ServerAnswer | ServerFailures> {
    const previous = answers.map(({ server }) => server)
    const isSingle = this.#servers.length === 1
    const others = isSingle ? this.#included : this.#included.filter((each) => !previous.includes(each))
    const socket = (answers.at(-1)?.socket ?? 0) + 1
    return this.#try({ host, type, deadline: this.deadline() }, others, socket, (failures) => ({ failures }))
  }

  close(): void {
    this.#isClosed = true
    for (const server of this.#servers) server.close()
    for (const end of this.#retryTimers) end()
  }

  /**
   * Queries one server after another, then retries the failed ones after a delay, because overload may have caused the
   * failures. If an overload may explain them, it continues until the deadline. Skips a server that is unreachable or
   * failed explicitly often enough. `first`: the socket of the first attempt. `conclude`: the result without an answer.
   */
  async #try<Failed>(
    question: DnsQuestion,
    servers: readonly DnsServerClient[],
    first: number,
    conclude: (failures: FailuresByServer) => Failed,
  ): Promise<ServerAnswer | Awaited<Failed>> {
    const { host, type, deadline } = question
    let failures = NO_FAILURES
    let unreachable: readonly DnsServerClient[] = []
    const firstServer = this.#nextServer++
    const maxAttempts = Math.max(MIN_AGREEING_FAILURES, this.#options.attempts)
    for (let attempt = 0; !isAgreedFailure(failures); attempt++) {
      const attemptsLeft = maxAttempts - unreachable.length - failuresWithoutOverload(failures)
      if (attemptsLeft <= 0 || (attempt >= maxAttempts && performance.now() >= deadline)) break
      const server = this.#choose(servers, firstServer, failures, unreachable)
      const earlierAttempts = (server !== null && failures.get(server)) || NO_ATTEMPTS
      if (server === null || (attempt > 0 && !(await this.#awaitRetry(question, failures, earlierAttempts)))) break
      const hasTimedOut = earlierAttempts.some(({ why }) => why === 'timeout')
      const attemptOptions = { isRetry: earlierAttempts.length > 0, attempt, hasTimedOut, isLast: attemptsLeft === 1 }
      const socket = first + attempt
      const { reply, ticket } = await server.query({ host, type, socket, deadline, ...attemptOptions })
      if (reply.outcome === 'unreachable' || ticket === null) unreachable = [...unreachable, server]
      else if (reply.outcome !== 'failed') return this.#recordAnswer(failures, { reply, server, socket })
      else failures = new Map([...failures, [server, [...earlierAttempts, { why: reply.why, ticket }]]])
    }
    return await conclude(failures)
  }

  /** Reports to the limiters that the earlier failures were not the host's. */
  #recordAnswer(failures: FailuresByServer, answer: ServerAnswer): ServerAnswer {
    for (const [server, attempts] of failures) {
      if (server !== answer.server && attempts.some(({ why }) => isExplicitFailure(why))) this.disagreements++
      if (!server.path.edns.isDropped) server.path.limiter.recordRecovery(attempts[0]!.ticket)
    }
    return answer
  }

  /** Chooses a server with the fewest failures and the shortest wait. Returns null if none is left. */
  #choose(
    servers: readonly DnsServerClient[],
    firstServer: number,
    failures: FailuresByServer,
    unreachable: readonly DnsServerClient[],
  ): DnsServerClient | null {
    let best: DnsServerClient | null = null
    let leastWeight = Number.POSITIVE_INFINITY
    for (let index = 0; index < servers.length; index++) {
      const server = servers[(firstServer + index) % servers.length]!
      const earlierAttempts = failures.get(server) ?? NO_ATTEMPTS
      if (unreachable.includes(server) || explicitFailuresOf(server, earlierAttempts) >= MIN_AGREEING_FAILURES) continue
      const weight = earlierAttempts.length * 1e6 + server.path.limiter.pressure
      if (weight < leastWeight) [best, leastWeight] = [server, weight]
    }
    return best
  }

  /** The failure that enough servers agree on. The timeout of a server that answers no other query does not count. */
  async #agreedFailure(failures: FailuresByServer, startedAt: number): Promise<{ reply: FailedReply } | null> {
    let [servers, failed] = [0, 0]
    let why: DnsFailure | null = null
    for (const [server, attempts] of failures) {
      const { limiter } = server.path
      const whys = attempts.filter(({ ticket }) => !limiter.mayBeOverload(ticket)).map(({ why }) => why)
      const heaviest = heaviestFailure(whys)
      if (heaviest === null || !(await this.#countsAsEvidence(server, heaviest, startedAt))) continue
      servers++
      failed += whys.length
      why = why === null ? heaviest : heaviestFailure([why, heaviest])
    }
    const isAgreed = failed >= MIN_AGREEING_FAILURES && servers >= Math.min(MIN_AGREEING_SERVERS, this.#servers.length)
    if (!isAgreed || why === null) return null
    for (const { path } of failures.keys()) path.limiter.recordDeadHost()
    return { reply: { outcome: 'failed', why } }
  }

  /** Whether a server's failure is evidence. A server that fails every query says nothing about one host. */
  #countsAsEvidence(server: DnsServerClient, why: DnsFailure, startedAt: number): Promise<boolean> | boolean {
    if (why === 'timeout') return server.answersSince(startedAt)
    const mayBeOverload = why === 'refused' || why === 'servfail'
    return (
      this.#options.isSelfCheck ||
      !mayBeOverload ||
      server.succeedsSince(Math.min(startedAt, performance.now() - RECENT_SUCCESS_MS))
    )
  }

  /** Waits before a failed server is queried again. A timeout was already a wait. */
  async #awaitRetry(
    { shouldRetry }: DnsQuestion,
    failures: FailuresByServer,
    attempts: readonly FailedAttempt[],
  ): Promise<boolean> {
    const last = attempts.at(-1)
    if (failures.size > 0 && shouldRetry !== undefined && !(await shouldRetry())) return false
    if (last !== undefined && last.why !== 'timeout' && !this.#isClosed) {
      const spread = 0.8 + 0.4 * Math.random()
      await this.#wait(this.#options.retryDelayMs * (attempts.length === 1 ? 1 : LATER_RETRY_FACTOR) * spread)
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

const serverKey = ({ address, port }: DnsServer): string => `${address} ${port}`

/** Whether two servers failed explicitly and one of them failed again after a pause. */
function isAgreedFailure(failures: FailuresByServer): boolean {
  if (failures.size < MIN_AGREEING_SERVERS) return false
  const counts = [...failures]
    .map(([server, attempts]) => explicitFailuresOf(server, attempts))
    .filter((count) => count > 0)
  return counts.length >= MIN_AGREEING_SERVERS && counts.reduce((sum, count) => sum + count) >= MIN_AGREEING_FAILURES
}

/** The failure with the most weight, the first of several with the same weight. Returns null if there is none. */
function heaviestFailure(failures: readonly DnsFailure[]): DnsFailure | null {
  return failures.toSorted((a, b) => FAILURE_WEIGHTS[b] - FAILURE_WEIGHTS[a])[0] ?? null
}

/** The number of failed attempts that overload does not explain. */
function failuresWithoutOverload(failures: FailuresByServer): number {
  let count = 0
  for (const [server, attempts] of failures) {
    for (const { ticket } of attempts) if (!server.path.limiter.mayBeOverload(ticket)) count++
  }
  return count
}

/** How often a server failed explicitly without overload. */
function explicitFailuresOf(server: DnsServerClient, attempts: readonly FailedAttempt[]): number {
  return attempts.filter(({ why, ticket }) => isExplicitFailure(why) && !server.path.limiter.mayBeOverload(ticket))
    .length
}

function isExplicitFailure(why: DnsFailure): boolean {
  return FAILURE_WEIGHTS[why] === EXPLICIT_FAILURE_WEIGHT
}
