/** The admission of requests: a turn of the event loop begins as many as fit into its time, those sent ahead last, and each knows how long it has waited. */

import type { Arrival, Unread } from './arrival.ts'

/** Whose turn it may be. */
type Next = Arrival | Unread

/** Milliseconds of one turn in which requests are begun; then sockets are read again. */
const TURN = 8
/** The same after a connection was handed over: a worker gets only one a turn. */
const SHORT_TURN = 0.5
/** Requests of a turn that were sent before the one before them was answered. */
const BEHIND_A_TURN = 4
/** Milliseconds after which one of those is begun although others wait: in a constant overload none would ever be, nor be refused. */
const BEHIND_AT_LEAST = 10
/** Requests that are prepared for one turn, at most. */
const PREPARED = 256
/** Milliseconds between two looks at the processor time while nothing is asked. */
const MARK = 100

export type AdmissionOptions = {
  /** Begins a request, or the first one of what is not parsed yet. */
  begin: (next: Next) => void
  /** Milliseconds of a clock that is never set. */
  ticks: () => number
}

export class Admission {
  readonly #options: AdmissionOptions
  readonly #first = new Line()
  readonly #behind = new Line()
  readonly #arrivals: Arrivals
  readonly #marker: NodeJS.Timeout
  /** Steps that are scheduled; each begins one request, so that what it does at once is done before the next begins. */
  #scheduled = 0
  #coming = 0
  #current = -1
  #turnBegan = 0
  #behindBegun = 0
  #lastBehind = Number.NEGATIVE_INFINITY
  #turn = TURN
  #isHurried = false

  constructor(options: AdmissionOptions) {
    this.#options = options
    this.#arrivals = new Arrivals(options.ticks)
    this.#marker = setInterval(() => setImmediate(() => this.#arrivals.mark()), MARK).unref()
  }

  close(): void {
    clearInterval(this.#marker)
  }

  /** Requests that wait to be begun. */
  get waiting(): number {
    return this.#first.length + this.#behind.length
  }

  /** When the bytes that are read at this moment may have arrived, at the earliest. */
  arrived(): number {
    return this.#arrivals.now()
  }

  /** Lines a request up; `isBehind`: it was sent before the one before it was answered. */
  enter(next: Next, isBehind: boolean): void {
    const line = isBehind ? this.#behind : this.#first
    line.add(next)
    this.#schedule()
  }

  /** Makes the next turn a short one. */
  hurry(): void {
    this.#isHurried = true
  }

  #schedule(): void {
    if (this.#scheduled >= PREPARED || this.#scheduled >= this.waiting) return
    this.#scheduled++
    const turn = this.#coming
    setImmediate(() => this.#step(turn))
  }

  #step(turn: number): void {
    this.#scheduled--
    if (turn !== this.#current) this.#beginTurn(turn)
    const now = this.#options.ticks()
    const isOver = now - this.#turnBegan >= this.#turn
    const next = isOver ? undefined : this.#next(now)
    if (next === undefined) {
      // the next turn goes on, with as many steps as it may need
      while (this.#scheduled < PREPARED && this.#scheduled < this.waiting) this.#schedule()
      return
    }
    if (this.waiting > 0) this.#schedule()
    this.#options.begin(next)
  }

  #beginTurn(turn: number): void {
    this.#current = turn
    this.#coming = turn + 1
    this.#turnBegan = this.#options.ticks()
    this.#behindBegun = 0
    this.#turn = this.#isHurried ? SHORT_TURN : TURN
    this.#isHurried = false
    this.#arrivals.mark()
  }

  #next(now: number): Next | undefined {
    const isDue = this.#behind.length > 0 && now - this.#lastBehind >= BEHIND_AT_LEAST
    const first = isDue ? undefined : this.#first.take()
    if (first !== undefined || this.#behindBegun >= BEHIND_A_TURN) return first
    this.#behindBegun++
    this.#lastBehind = now
    return this.#behind.take() ?? this.#first.take()
  }
}

/** Requests in their order; those whose connection was closed meanwhile are passed over. */
class Line {
  #arrivals: (Next | undefined)[] = []
  #head = 0

  get length(): number {
    return this.#arrivals.length - this.#head
  }

  add(arrival: Next): void {
    this.#arrivals.push(arrival)
  }

  take(): Next | undefined {
    while (this.#head < this.#arrivals.length) {
      const arrival = this.#arrivals[this.#head]
      this.#arrivals[this.#head++] = undefined
      if (this.#head === this.#arrivals.length || this.#head >= 1_024) this.#cut()
      if (arrival !== undefined && !arrival.connection.socket.destroyed) return arrival
    }
    return undefined
  }

  #cut(): void {
    this.#arrivals = this.#arrivals.slice(this.#head)
    this.#head = 0
  }
}

/**
 * When bytes that are read now may have arrived at the earliest: sockets were read the last time when the turn before ended,
 * and since then this thread was busy. Time in which it slept, or other processes had the processor, does not count.
 */
class Arrivals {
  readonly #ticks: () => number
  #busy = busyTime()
  #arrived: number | null = null

  constructor(ticks: () => number) {
    this.#ticks = ticks
  }

  /** Sockets were read just before. */
  mark(): void {
    this.#busy = busyTime()
    this.#arrived = null
  }

  now(): number {
    this.#arrived ??= this.#ticks() - (busyTime() - this.#busy)
    return this.#arrived
  }
}

/** Milliseconds of processor time of this thread. */
function busyTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
