/** The concurrency limiter of one resolver: how many questions may be in flight there, learned from what it bears. */

import { LoadEvidence } from './dns-load.ts'

/** Who wants a place in flight. Urgent questions go first, then those that failed before (`isAgain`): what was begun is ended. */
export type Entrant = { host: string; isAgain?: boolean; isUrgent?: boolean }

/** One question in flight, from `sentAt` to `endedAt`. */
export type Ticket = Entrant & { readonly sentAt: number; endedAt: number }

/** When unrelated hosts began to fail, and when that was noticed. */
type Overload = { from: number; to: number }

/** `lost`: it could not be sent, which says nothing about the resolver. */
export type Outcome = 'answered' | 'failed' | 'lost'

type Waiting = { entrant: Entrant; until: number; grant(ticket: Ticket | null): void }

export const FIRST_LIMIT = 50
export const LEAST_LIMIT = 8
const GREATEST_LIMIT = 4096
/** Added per answer until the first overload: one and a half times the limit per round trip. */
const GROWTH = 0.5
/** The same below the target, after an overload: the resolver still works on what we have given up. */
const RETURN_GROWTH = 0.1
/** Added per answer above the target, for each second since a pause of so many milliseconds; 0.5 % per round trip at most. */
const PROBE_GROWTH = 0.0005
const GREATEST_PROBE_GROWTH = 0.005
/** Added per question that failed for good, after several attempts, up to the first limit. */
const DEAD_GROWTH = 4 * GROWTH
const PROBE_PAUSE = 2_000
/** The first growth overshoots by this factor at most before failures are seen. */
const OVERSHOOT = 1.5
/** An overload within so many milliseconds after another one says that the target was still too high. */
const SOON = 2_000
/** What remains of the target after an overload, by how many came soon after each other. */
const REDUCTIONS = [0.9, 0.9, 0.8, 0.5] as const
/** Overloads that are remembered: longer than any question is in flight. */
const REMEMBERED = 32

/**
 * Additive growth and multiplicative decrease, as congestion control does it (RFC 5681, section 3.1), with the target remembered
 * as CUBIC does (RFC 9438, section 4): the limit is halved on overload, returns fast to just below what was borne, stays there, and
 * rarely probes for more.
 */
export class ConcurrencyLimiter {
  readonly #ticks: () => number
  readonly #isFixed: boolean
  readonly #evidence = new LoadEvidence()
  /** In the order in which they are served. */
  readonly #queues = { urgent: new Queue(), again: new Queue(), first: new Queue() }
  #limit: number
  #target = Number.POSITIVE_INFINITY
  #inFlight = 0
  #overloadedAt = Number.NEGATIVE_INFINITY
  /** When as many questions were in flight as the limit allows, the last time. */
  #fullAt = Number.NEGATIVE_INFINITY
  #windowBegan: number
  readonly #recent: Overload[] = []
  #overloadsInARow = 0
  /** How often the limit was halved. */
  overloads = 0

  /** `ticks`: milliseconds of a clock that is never set back. `fixed`: a limit that nothing changes, for benches. */
  constructor({ ticks = () => performance.now(), fixed }: { ticks?: () => number; fixed?: number } = {}) {
    this.#ticks = ticks
    this.#windowBegan = ticks()
    this.#isFixed = fixed !== undefined
    this.#limit = fixed ?? FIRST_LIMIT
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
  enter(entrant: Entrant, until: number): Ticket | Promise<Ticket | null> {
    if (this.pressure === 0) return this.#admit(entrant)
    const { urgent, again, first } = this.#queues
    const queue = entrant.isUrgent ? urgent : entrant.isAgain ? again : first
    return new Promise((grant) => queue.push({ entrant, until, grant }))
  }

  /** A question is over. */
  leave(ticket: Ticket, outcome: Outcome): void {
    ticket.endedAt = this.#ticks()
    this.#inFlight--
    if (outcome === 'answered') this.#evidence.noteOutcome(false)
    if (outcome !== 'lost' && ticket.sentAt > this.#overloadedAt) {
      // A dead host that is asked again and again would count in every window.
      // An answer to a control question says nothing of the hosts beside it, which may all be dead.
      const counts = outcome === 'answered' ? !ticket.isUrgent : !ticket.isAgain
      if (counts) this.#note(ticket, outcome === 'failed')
      if (outcome === 'answered') this.#grow(ticket)
      else if (this.#evidence.hasManyFailures && this.limit > LEAST_LIMIT) this.#reduce()
    }
    this.#admitWaiting()
  }

  /** A question failed under this ticket, and was answered when it was asked again. */
  recovered(ticket: Ticket): void {
    if (ticket.sentAt <= this.#overloadedAt) return
    this.#evidence.noteRecovery(ticket.host)
    if (this.#evidence.hasManyRecoveries) this.#reduce()
  }

  /**
   * A question failed for good: it was asked again in calm. Dead hosts fail whatever the load is, so that many in a row, which
   * looked like an overload, are asked as many at once again as at first.
   */
  confirmDead(): void {
    this.#evidence.noteOutcome(true)
    if (this.#isFixed || this.#limit >= FIRST_LIMIT) return
    this.#limit = Math.min(FIRST_LIMIT, this.#target, this.#limit + DEAD_GROWTH)
    this.#admitWaiting()
  }

  /** Whether a failure under this ticket may be the load's: unrelated hosts failed at the same time. */
  doubts({ sentAt, endedAt }: Ticket): boolean {
    return this.#recent.some(({ from, to }) => sentAt <= to && endedAt >= from)
  }

  /** Nobody waits any longer. */
  close(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.grant(null)
  }

  #admit(entrant: Entrant): Ticket {
    const sentAt = this.#ticks()
    if (++this.#inFlight >= this.limit) this.#fullAt = sentAt
    return { ...entrant, sentAt, endedAt: Number.POSITIVE_INFINITY }
  }

  #admitWaiting(): void {
    while (this.#inFlight < this.limit) {
      const next = this.#next()
      if (next === undefined) return
      next.grant(next.until > this.#ticks() ? this.#admit(next.entrant) : null)
    }
  }

  #next(): Waiting | undefined {
    const { urgent, again, first } = this.#queues
    return urgent.shift() ?? again.shift() ?? first.shift()
  }

  #note({ host, endedAt }: Ticket, hasFailed: boolean): void {
    if (this.#evidence.note(host, hasFailed)) this.#windowBegan = endedAt
  }

  /** Only answers to questions during which the limit was used up say that more can be borne. */
  #grow({ sentAt }: Ticket): void {
    if (this.#fullAt < sentAt || this.#isFixed) return
    if (this.#limit < this.#target) {
      const growth = this.#target === Number.POSITIVE_INFINITY ? GROWTH : RETURN_GROWTH
      this.#limit = Math.min(this.#target, this.#limit + growth, GREATEST_LIMIT)
      return
    }
    const seconds = (this.#ticks() - this.#overloadedAt - PROBE_PAUSE) / 1000
    if (seconds <= 0) return
    this.#limit = Math.min(this.#limit + Math.min(PROBE_GROWTH * seconds, GREATEST_PROBE_GROWTH), GREATEST_LIMIT)
    this.#target = this.#limit
  }

  #reduce(): void {
    if (this.#isFixed) return
    const now = this.#ticks()
    this.#overloadsInARow = now - this.#overloadedAt < SOON ? this.#overloadsInARow + 1 : 0
    if (!this.#evidence.hasNoAnswer) this.#lowerTarget()
    this.#limit = Math.max(LEAST_LIMIT, this.#limit / 2)
    this.#overloadedAt = now
    this.#recent.push({ from: this.#windowBegan, to: now })
    if (this.#recent.length > REMEMBERED) this.#recent.shift()
    this.overloads++
    this.#evidence.clear()
    this.#windowBegan = now
  }

  /** A resolver that answers nothing at all is down, which says nothing about what it bears. */
  #lowerTarget(): void {
    const isFirst = this.#target === Number.POSITIVE_INFINITY
    const reduction = REDUCTIONS[Math.min(this.#overloadsInARow, REDUCTIONS.length - 1)]!
    const borne = this.#limit * (isFirst ? 1 / OVERSHOOT : reduction)
    this.#target = Math.max(LEAST_LIMIT, Math.min(borne, this.#target * reduction))
  }
}

/** An array with a moving head, because shifting a long one costs as much as it is long. */
class Queue {
  #all: Waiting[] = []
  /** What is in front of it is done. */
  #head = 0

  get length(): number {
    return this.#all.length - this.#head
  }

  push(waiting: Waiting): void {
    this.#all.push(waiting)
  }

  shift(): Waiting | undefined {
    const next = this.#all[this.#head]
    if (next !== undefined) this.#head++
    if (this.#head > 1024 && this.#head * 2 > this.#all.length) {
      this.#all = this.#all.slice(this.#head)
      this.#head = 0
    }
    return next
  }
}
