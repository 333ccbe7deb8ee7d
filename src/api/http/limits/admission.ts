/** The admission of requests: a turn of the event loop begins as many as fit into its time, those sent ahead last, and each knows how long it has waited. */

import type { PendingRequest, UnparsedConnection } from '../pending-request.ts'

/** Whose turn it may be. */
type Next = PendingRequest | UnparsedConnection

/** Milliseconds of one turn in which requests are begun; then sockets are read again. */
const TICK_BUDGET_MS = 8
/** The same after a connection was handed over: a worker gets only one a turn. */
const SHORT_TICK_BUDGET_MS = 0.5
/** Requests of a turn that were sent before the one before them was answered. */
const PIPELINED_PER_TICK = 4
/** Milliseconds after which one of those is begun although others wait: in a constant overload none would ever be, nor be refused. */
const MAX_PIPELINED_DELAY_MS = 10
/** Requests that are prepared for one turn, at most. */
const MAX_SCHEDULED_STEPS = 256
/** Milliseconds between two looks at the processor time while nothing is asked. */
const CPU_SAMPLE_MS = 100

export type AdmissionOptions = {
  /** Begins a request, or the first one of what is not parsed yet. */
  start: (next: Next) => void
  /** Milliseconds of a clock that is never set. */
  monotonicMs: () => number
}

export class Admission {
  readonly #options: AdmissionOptions
  readonly #firstQueue = new RequestQueue()
  readonly #pipelinedQueue = new RequestQueue()
  readonly #arrivalClock: ArrivalClock
  readonly #sampleTimer: NodeJS.Timeout
  /** Steps that are scheduled; each begins one request, so that what it does at once is done before the next begins. */
  #scheduled = 0
  #nextTick = 0
  #currentTick = -1
  #tickStartedAt = 0
  #pipelinedStarted = 0
  #lastPipelinedAt = Number.NEGATIVE_INFINITY
  #tickBudget = TICK_BUDGET_MS
  #nextTickIsShort = false

  constructor(options: AdmissionOptions) {
    this.#options = options
    this.#arrivalClock = new ArrivalClock(options.monotonicMs)
    this.#sampleTimer = setInterval(() => setImmediate(() => this.#arrivalClock.markRead()), CPU_SAMPLE_MS).unref()
  }

  close(): void {
    clearInterval(this.#sampleTimer)
  }

  /** Requests that wait to be begun. */
  get waiting(): number {
    return this.#firstQueue.length + this.#pipelinedQueue.length
  }

  /** When the bytes that are read at this moment may have arrived, at the earliest. */
  earliestArrival(): number {
    return this.#arrivalClock.earliestArrival()
  }

  /** Lines a request up; `isBehind`: it was sent before the one before it was answered. */
  enqueue(next: Next, isPipelined: boolean): void {
    const line = isPipelined ? this.#pipelinedQueue : this.#firstQueue
    line.enqueue(next)
    this.#schedule()
  }

  /** Makes the next turn a short one. */
  shortenNextTick(): void {
    this.#nextTickIsShort = true
  }

  #schedule(): void {
    if (this.#scheduled >= MAX_SCHEDULED_STEPS || this.#scheduled >= this.waiting) return
    this.#scheduled++
    const turn = this.#nextTick
    setImmediate(() => this.#step(turn))
  }

  #step(tick: number): void {
    this.#scheduled--
    if (tick !== this.#currentTick) this.#startTick(tick)
    const now = this.#options.monotonicMs()
    const isOver = now - this.#tickStartedAt >= this.#tickBudget
    const next = isOver ? undefined : this.#next(now)
    if (next === undefined) {
      // the next turn goes on, with as many steps as it may need
      while (this.#scheduled < MAX_SCHEDULED_STEPS && this.#scheduled < this.waiting) this.#schedule()
      return
    }
    if (this.waiting > 0) this.#schedule()
    this.#options.start(next)
  }

  #startTick(tick: number): void {
    this.#currentTick = tick
    this.#nextTick = tick + 1
    this.#tickStartedAt = this.#options.monotonicMs()
    this.#pipelinedStarted = 0
    this.#tickBudget = this.#nextTickIsShort ? SHORT_TICK_BUDGET_MS : TICK_BUDGET_MS
    this.#nextTickIsShort = false
    this.#arrivalClock.markRead()
  }

  #next(now: number): Next | undefined {
    const isDue = this.#pipelinedQueue.length > 0 && now - this.#lastPipelinedAt >= MAX_PIPELINED_DELAY_MS
    const first = isDue ? undefined : this.#firstQueue.dequeue()
    if (first !== undefined || this.#pipelinedStarted >= PIPELINED_PER_TICK) return first
    this.#pipelinedStarted++
    this.#lastPipelinedAt = now
    return this.#pipelinedQueue.dequeue() ?? this.#firstQueue.dequeue()
  }
}

/** Requests in their order; those whose connection was closed meanwhile are passed over. */
class RequestQueue {
  #arrivals: (Next | undefined)[] = []
  #head = 0

  get length(): number {
    return this.#arrivals.length - this.#head
  }

  enqueue(arrival: Next): void {
    this.#arrivals.push(arrival)
  }

  dequeue(): Next | undefined {
    while (this.#head < this.#arrivals.length) {
      const arrival = this.#arrivals[this.#head]
      this.#arrivals[this.#head++] = undefined
      if (this.#head === this.#arrivals.length || this.#head >= 1_024) this.#compact()
      if (arrival !== undefined && !arrival.connection.socket.destroyed) return arrival
    }
    return undefined
  }

  #compact(): void {
    this.#arrivals = this.#arrivals.slice(this.#head)
    this.#head = 0
  }
}

/**
 * When bytes that are read now may have arrived at the earliest: sockets were read the last time when the turn before ended,
 * and since then this thread was busy. Time in which it slept, or other processes had the processor, does not count.
 */
class ArrivalClock {
  readonly #monotonicMs: () => number
  #cpuTimeAtRead = threadCpuMilliseconds()
  #earliest: number | null = null

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  /** Sockets were read just before. */
  markRead(): void {
    this.#cpuTimeAtRead = threadCpuMilliseconds()
    this.#earliest = null
  }

  earliestArrival(): number {
    this.#earliest ??= this.#monotonicMs() - (threadCpuMilliseconds() - this.#cpuTimeAtRead)
    return this.#earliest
  }
}

/** Milliseconds of processor time of this thread. */
function threadCpuMilliseconds(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
