/** The concurrency limiter of one resolver: how many questions may be in flight there, learned from what it bears. */

import { OverloadEvidence } from './overload-evidence.ts'

/** Who wants a place in flight. Urgent questions go first, then those that failed before (`isAgain`): what was begun is ended. */
export type QueryTicketRequest = { host: string; isRetry?: boolean; isUrgent?: boolean }

/** One question in flight, from `sentAt` to `endedAt`. */
export type QueryTicket = QueryTicketRequest & { readonly sentAt: number; endedAt: number }

/** When unrelated hosts began to fail, and when that was noticed. */
type OverloadPeriod = { from: number; to: number }

/** `lost`: it could not be sent, which says nothing about the resolver. */
export type QueryOutcome = 'answered' | 'failed' | 'lost'

type WaitingQuery = { request: QueryTicketRequest; deadline: number; grant(ticket: QueryTicket | null): void }

export const INITIAL_CONCURRENCY = 50
export const MIN_CONCURRENCY = 8
const MAX_CONCURRENCY = 4096
/** Added per answer until the first overload: one and a half times the limit per round trip. */
const INITIAL_GROWTH = 0.5
/** The same below the target, after an overload: the resolver still works on what we have given up. */
const RECOVERY_GROWTH = 0.1
/** Added per answer above the target, for each second since a pause of so many milliseconds; 0.5 % per round trip at most. */
const PROBE_GROWTH = 0.0005
const MAX_PROBE_GROWTH = 0.005
/** Added per question that failed for good, after several attempts, up to the first limit. */
const DEAD_HOST_GROWTH = 4 * INITIAL_GROWTH
const PROBE_DELAY_MS = 2_000
/** The first growth overshoots by this factor at most before failures are seen. */
const OVERSHOOT = 1.5
/** An overload within so many milliseconds after another one says that the target was still too high. */
const REPEATED_OVERLOAD_MS = 2_000
/** What remains of the target after an overload, by how many came soon after each other. */
const REDUCTIONS = [0.9, 0.9, 0.8, 0.5] as const
/** Overloads that are remembered: longer than any question is in flight. */
const MAX_REMEMBERED_OVERLOADS = 32

/**
 * Additive growth and multiplicative decrease, as congestion control does it (RFC 5681, section 3.1), with the target remembered
 * as CUBIC does (RFC 9438, section 4): the limit is halved on overload, returns fast to just below what was borne, stays there, and
 * rarely probes for more.
 */
export class DnsConcurrencyLimiter {
  readonly #nowMs: () => number
  readonly #isFixed: boolean
  readonly #evidence = new OverloadEvidence()
  /** In the order in which they are served. */
  readonly #queues = { urgent: new WaitingQueue(), again: new WaitingQueue(), first: new WaitingQueue() }
  #limit: number
  #target = Number.POSITIVE_INFINITY
  #inFlight = 0
  #overloadedAt = Number.NEGATIVE_INFINITY
  /** When as many questions were in flight as the limit allows, the last time. */
  #fullAt = Number.NEGATIVE_INFINITY
  #windowStartedAt: number
  readonly #recentOverloads: OverloadPeriod[] = []
  #overloadsInARow = 0
  /** How often the limit was halved. */
  overloads = 0

  /** `ticks`: milliseconds of a clock that is never set back. `fixed`: a limit that nothing changes, for benches. */
  constructor({ ticks: nowMs = () => performance.now(), fixed }: { ticks?: () => number; fixed?: number } = {}) {
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

  /** Questions that wait, per question that may be in flight; 0 if the next one need not wait. */
  get pressure(): number {
    const { urgent, again, first } = this.#queues
    const waiting = urgent.length + again.length + first.length
    return waiting === 0 && this.#inFlight < this.limit ? 0 : (waiting + 1) / this.limit
  }

  /**
   * Takes a place in flight, which `leave` returns. Resolves with null if none became free until a moment of the clock.
   */
  acquire(request: QueryTicketRequest, deadline: number): QueryTicket | Promise<QueryTicket | null> {
    if (this.pressure === 0) return this.#admit(request)
    const { urgent, again, first } = this.#queues
    const queue = request.isUrgent ? urgent : request.isRetry ? again : first
    return new Promise((grant) => queue.push({ request, deadline, grant }))
  }

  /** A question is over. */
  release(ticket: QueryTicket, outcome: QueryOutcome): void {
    ticket.endedAt = this.#nowMs()
    this.#inFlight--
    if (outcome === 'answered') this.#evidence.recordOutcome(false)
    if (outcome !== 'lost' && ticket.sentAt > this.#overloadedAt) {
      // A dead host that is asked again and again would count in every window.
      // An answer to a control question says nothing of the hosts beside it, which may all be dead.
      const counts = outcome === 'answered' ? !ticket.isUrgent : !ticket.isRetry
      if (counts) this.#recordOutcome(ticket, outcome === 'failed')
      if (outcome === 'answered') this.#grow(ticket)
      else if (this.#evidence.hasManyFailures && this.limit > MIN_CONCURRENCY) this.#reduce()
    }
    this.#admitWaiting()
  }

  /** A question failed under this ticket, and was answered when it was asked again. */
  recordRecovery(ticket: QueryTicket): void {
    if (ticket.sentAt <= this.#overloadedAt) return
    this.#evidence.recordRecovery(ticket.host)
    if (this.#evidence.hasManyRecoveries) this.#reduce()
  }

  /**
   * A question failed for good: it was asked again in calm. Dead hosts fail whatever the load is, so that many in a row, which
   * looked like an overload, are asked as many at once again as at first.
   */
  recordDeadHost(): void {
    this.#evidence.recordOutcome(true)
    if (this.#isFixed || this.#limit >= INITIAL_CONCURRENCY) return
    this.#limit = Math.min(INITIAL_CONCURRENCY, this.#target, this.#limit + DEAD_HOST_GROWTH)
    this.#admitWaiting()
  }

  /** Whether a failure under this ticket may be the load's: unrelated hosts failed at the same time. */
  mayBeOverload({ sentAt, endedAt }: QueryTicket): boolean {
    return this.#recentOverloads.some(({ from, to }) => sentAt <= to && endedAt >= from)
  }

  /** Nobody waits any longer. */
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
    const { urgent, again, first } = this.#queues
    return urgent.shift() ?? again.shift() ?? first.shift()
  }

  #recordOutcome({ host, endedAt }: QueryTicket, hasFailed: boolean): void {
    if (this.#evidence.record(host, hasFailed)) this.#windowStartedAt = endedAt
  }

  /** Only answers to questions during which the limit was used up say that more can be borne. */
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
    this.#recentOverloads.push({ from: this.#windowStartedAt, to: now })
    if (this.#recentOverloads.length > MAX_REMEMBERED_OVERLOADS) this.#recentOverloads.shift()
    this.overloads++
    this.#evidence.clear()
    this.#windowStartedAt = now
  }

  /** A resolver that answers nothing at all is down, which says nothing about what it bears. */
  #lowerTarget(): void {
    const isFirst = this.#target === Number.POSITIVE_INFINITY
    const reduction = REDUCTIONS[Math.min(this.#overloadsInARow, REDUCTIONS.length - 1)]!
    const sustained = this.#limit * (isFirst ? 1 / OVERSHOOT : reduction)
    this.#target = Math.max(MIN_CONCURRENCY, Math.min(sustained, this.#target * reduction))
  }
}

/** An array with a moving head, because shifting a long one costs as much as it is long. */
class WaitingQueue {
  #all: WaitingQuery[] = []
  /** What is in front of it is done. */
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
