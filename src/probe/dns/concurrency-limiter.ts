/**
 * The concurrency limiter of one resolver. It learns how many queries may be in flight there from what the resolver
 * sustains.
 */

/** Hosts per window. */
const WINDOW_HOSTS = 100

/**
 * Fewer hosts that fail or recover are no evidence. A dead domain counts as one host, whatever number of queries it
 * gets.
 */
const MIN_HOSTS = 8

/** The share of hosts that may fail in addition to twice the share of dead hosts. */
const MAX_FAILED_SHARE = 0.2

/** The share of hosts that may fail and then answer a retry. Servers that answer at random do that without any load. */
const MAX_RECOVERED_SHARE = 0.1

/** The assumed share of dead hosts at the start, and the weight of each query in its moving average. */
const INITIAL_DEAD_SHARE = 0.05
const DEAD_SHARE_WEIGHT = 0.01

/**
 * Evidence of overload at one resolver: failures of many unrelated hosts, which no single dead domain explains. Pure.
 */
class OverloadEvidence {
  /** The hosts of this window. True if a query failed. */
  readonly #hosts = new Map<string, boolean>()
  readonly #recovered = new Set<string>()
  #failed = 0
  #answers = 0
  #deadShare = INITIAL_DEAD_SHARE

  /** Records the outcome of a query about a host. Returns true if it starts a new window. */
  record(host: string, hasFailed: boolean): boolean {
    const key = hostGroup(host)
    const before = this.#hosts.get(key)
    const isNew = before === undefined && this.#hosts.size >= WINDOW_HOSTS
    if (isNew) this.clear()
    if (hasFailed && before !== true) this.#failed++
    if (!hasFailed) this.#answers++
    if (before !== true) this.#hosts.set(key, hasFailed)
    return isNew
  }

  /** Records that a retry was answered, so the failure before it was not the host's. */
  recordRecovery(host: string): void {
    this.#recovered.add(hostGroup(host))
  }

  /** Records the final outcome of a query. Dead hosts fail under any load. */
  recordOutcome(isDead: boolean): void {
    this.#deadShare += DEAD_SHARE_WEIGHT * (Number(isDead) - this.#deadShare)
  }

  /** True if more hosts fail than the share of dead hosts explains. */
  get hasManyFailures(): boolean {
    return this.#failed >= MIN_HOSTS && this.#failed > (MAX_FAILED_SHARE + 2 * this.#deadShare) * this.#hosts.size
  }

  /** True if many failures were not the hosts' own. */
  get hasManyRecoveries(): boolean {
    const { size } = this.#recovered
    return size >= MIN_HOSTS && size > MAX_RECOVERED_SHARE * this.#hosts.size
  }

  /** True if no query was answered in this window, for example because the resolver is down. */
  get hasNoAnswer(): boolean {
    return this.#answers === 0
  }

  clear(): void {
    this.#hosts.clear()
    this.#recovered.clear()
    this.#failed = 0
    this.#answers = 0
  }
}

/**
 * A request for a place in flight. Urgent queries go first, then retries (`isRetry`), so that started work is finished.
 */
type QueryTicketRequest = { host: string; isRetry?: boolean; isUrgent?: boolean }

/** One query in flight, from `sentAt` to `endedAt`. */
export type QueryTicket = QueryTicketRequest & { readonly sentAt: number; endedAt: number }

/** The period from when unrelated hosts began to fail to when the limiter noticed. */
type OverloadPeriod = { from: number; to: number }

/** `lost`: the query could not be sent, which says nothing about the resolver. */
export type QueryOutcome = 'answered' | 'failed' | 'lost'

type WaitingQuery = { request: QueryTicketRequest; deadline: number; grant(ticket: QueryTicket | null): void }

export const INITIAL_CONCURRENCY = 50
export const MIN_CONCURRENCY = 8
const MAX_CONCURRENCY = 4096
/** Added per answer until the first overload. The limit grows by half per round trip. */
const INITIAL_GROWTH = 0.5
/** The same below the target, after an overload, while the resolver still works on queries that timed out here. */
const RECOVERY_GROWTH = 0.1
/** Added per answer above the target, for each second since PROBE_DELAY_MS passed. At most 0.5 % per round trip. */
const PROBE_GROWTH = 0.0005
const MAX_PROBE_GROWTH = 0.005
/** Added per query that failed after all its attempts, up to the initial limit. */
const DEAD_HOST_GROWTH = 4 * INITIAL_GROWTH
const PROBE_DELAY_MS = 2_000
/** The initial growth overshoots by at most this factor before failures show. */
const OVERSHOOT = 1.5
/** If a second overload follows within this many milliseconds, the target was still too high. */
const REPEATED_OVERLOAD_MS = 2_000
/** The factor that reduces the target after an overload, by the number of overloads in a row. */
const REDUCTIONS = [0.9, 0.9, 0.8, 0.5] as const
/** The number of remembered overloads. They cover more time than any query is in flight. */
const MAX_REMEMBERED_OVERLOADS = 32

/**
 * Additive increase and multiplicative decrease, as in congestion control (RFC 5681, section 3.1). It remembers a
 * target as CUBIC does (RFC 9438, section 4). An overload halves the limit. The limit then returns fast to just below
 * the sustained level, stays there, and rarely probes for more.
 */
export class DnsConcurrencyLimiter {
  readonly #nowMs: () => number
  readonly #isFixed: boolean
  readonly #evidence = new OverloadEvidence()
  /** In the order of their priority. */
  readonly #queues = { urgent: new WaitingQueue(), retry: new WaitingQueue(), first: new WaitingQueue() }
  #limit: number
  #target = Number.POSITIVE_INFINITY
  #inFlight = 0
  #overloadedAt = Number.NEGATIVE_INFINITY
  /** The last time that the number of queries in flight reached the limit. */
  #fullAt = Number.NEGATIVE_INFINITY
  #windowStartedAt: number
  readonly #recentOverloads: OverloadPeriod[] = []
  #overloadsInARow = 0
  /** How often the limit was halved. */
  overloads = 0

  /** `nowMs`: milliseconds of a monotonic clock. `fixed`: a constant limit, for benchmarks. */
  constructor({ nowMs = () => performance.now(), fixed }: { nowMs?: () => number; fixed?: number } = {}) {
    this.#nowMs = nowMs
    this.#windowStartedAt = nowMs()
    this.#isFixed = fixed !== undefined
    this.#limit = fixed ?? INITIAL_CONCURRENCY
  }

  get limit(): number {
    return Math.floor(this.#limit)
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Waiting queries per allowed query in flight. 0 if the next query need not wait. */
  get pressure(): number {
    const { urgent, retry, first } = this.#queues
    const waiting = urgent.length + retry.length + first.length
    return waiting === 0 && this.#inFlight < this.limit ? 0 : (waiting + 1) / this.limit
  }

  /**
   * Takes a place in flight, which `release` returns. Resolves with null if none became free before `deadline` of the
   * clock.
   */
  acquire(request: QueryTicketRequest, deadline: number): QueryTicket | Promise<QueryTicket | null> {
    if (this.pressure === 0) return this.#admit(request)
    const { urgent, retry, first } = this.#queues
    const queue = request.isUrgent ? urgent : request.isRetry ? retry : first
    return new Promise((grant) => queue.push({ request, deadline, grant }))
  }

  /** Ends a query and records its outcome. */
  release(ticket: QueryTicket, outcome: QueryOutcome): void {
    ticket.endedAt = this.#nowMs()
    this.#inFlight--
    if (outcome === 'answered') this.#evidence.recordOutcome(false)
    if (outcome !== 'lost' && ticket.sentAt > this.#overloadedAt) {
      // A dead host with retries would count in every window. The answer to a control question says nothing about the
      // other hosts, which may all be dead.
      const counts = outcome === 'answered' ? !ticket.isUrgent : !ticket.isRetry
      if (counts) this.#recordOutcome(ticket, outcome === 'failed')
      if (outcome === 'answered') this.#grow(ticket)
      else if (this.#evidence.hasManyFailures && this.limit > MIN_CONCURRENCY) this.#reduce()
    }
    this.#admitWaiting()
  }

  /** Records that a query failed with this ticket and that its retry was answered. */
  recordRecovery(ticket: QueryTicket): void {
    if (ticket.sentAt <= this.#overloadedAt) return
    this.#evidence.recordRecovery(ticket.host)
    if (this.#evidence.hasManyRecoveries) this.#reduce()
  }

  /**
   * Records that a query failed even under low load. Dead hosts fail under any load, and many in a row look like an
   * overload. So the limit grows back towards its initial value.
   */
  recordDeadHost(): void {
    this.#evidence.recordOutcome(true)
    if (this.#isFixed || this.#limit >= INITIAL_CONCURRENCY) return
    this.#limit = Math.min(INITIAL_CONCURRENCY, this.#target, this.#limit + DEAD_HOST_GROWTH)
    this.#admitWaiting()
  }

  /** Whether overload may explain a failure with this ticket. True if unrelated hosts failed at the same time. */
  mayBeOverload({ sentAt, endedAt }: QueryTicket): boolean {
    return this.#recentOverloads.some(({ from, to }) => sentAt <= to && endedAt >= from)
  }

  /** Rejects all waiting queries. */
  close(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.grant(null)
  }

  #admit(request: QueryTicketRequest): QueryTicket {
    const sentAt = this.#nowMs()
    if (++this.#inFlight >= this.limit) this.#fullAt = sentAt
    return { ...request, sentAt, endedAt: Number.POSITIVE_INFINITY }
  }

  #admitWaiting(): void {
    while (this.#inFlight < this.limit) {
      const next = this.#next()
      if (next === undefined) return
      next.grant(next.deadline > this.#nowMs() ? this.#admit(next.request) : null)
    }
  }

  #next(): WaitingQuery | undefined {
    const { urgent, retry, first } = this.#queues
    return urgent.shift() ?? retry.shift() ?? first.shift()
  }

  #recordOutcome({ host, endedAt }: QueryTicket, hasFailed: boolean): void {
    if (this.#evidence.record(host, hasFailed)) this.#windowStartedAt = endedAt
  }

  /**
   * Grows only on answers to queries during which the limit was reached. Others do not show that the resolver sustains
   * more.
   */
  #grow({ sentAt }: QueryTicket): void {
    if (this.#fullAt < sentAt || this.#isFixed) return
    if (this.#limit < this.#target) {
      const growth = this.#target === Number.POSITIVE_INFINITY ? INITIAL_GROWTH : RECOVERY_GROWTH
      this.#limit = Math.min(this.#target, this.#limit + growth, MAX_CONCURRENCY)
      return
    }
    const seconds = (this.#nowMs() - this.#overloadedAt - PROBE_DELAY_MS) / 1000
    if (seconds <= 0) return
    this.#limit = Math.min(this.#limit + Math.min(PROBE_GROWTH * seconds, MAX_PROBE_GROWTH), MAX_CONCURRENCY)
    this.#target = this.#limit
  }

  #reduce(): void {
    if (this.#isFixed) return
    const now = this.#nowMs()
    this.#overloadsInARow = now - this.#overloadedAt < REPEATED_OVERLOAD_MS ? this.#overloadsInARow + 1 : 0
    if (!this.#evidence.hasNoAnswer) this.#lowerTarget()
    this.#limit = Math.max(MIN_CONCURRENCY, this.#limit / 2)
    this.#overloadedAt = now
    this.#rememberOverload({ from: this.#windowStartedAt, to: now })
    this.overloads++
    this.#evidence.clear()
    this.#windowStartedAt = now
  }

  /** An overload that continues the last one extends it. */
  #rememberOverload({ from, to }: OverloadPeriod): void {
    const last = this.#recentOverloads.at(-1)
    if (last?.to === from) last.to = to
    else this.#recentOverloads.push({ from, to })
    if (this.#recentOverloads.length > MAX_REMEMBERED_OVERLOADS) this.#recentOverloads.shift()
  }

  /** Keeps the target if no query was answered. Then the resolver is down, which says nothing about its capacity. */
  #lowerTarget(): void {
    const isFirst = this.#target === Number.POSITIVE_INFINITY
    const reduction = REDUCTIONS[Math.min(this.#overloadsInARow, REDUCTIONS.length - 1)]!
    const sustained = this.#limit * (isFirst ? 1 / OVERSHOOT : reduction)
    this.#target = Math.max(MIN_CONCURRENCY, Math.min(sustained, this.#target * reduction))
  }
}

/** An array with a moving head, because `Array.shift` takes time in proportion to the length. */
class WaitingQueue {
  #all: WaitingQuery[] = []
  /** The index of the first waiting query. */
  #head = 0

  get length(): number {
    return this.#all.length - this.#head
  }

  push(waiting: WaitingQuery): void {
    this.#all.push(waiting)
  }

  shift(): WaitingQuery | undefined {
    const next = this.#all[this.#head]
    if (next !== undefined) this.#head++
    if (this.#head > 1024 && this.#head * 2 > this.#all.length) {
      this.#all = this.#all.slice(this.#head)
      this.#head = 0
    }
    return next
  }
}

/** A name and its `www.` host have the same servers. */
function hostGroup(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host
}
