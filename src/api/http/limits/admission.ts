/**
 * The admission of requests. Each tick of the event loop starts as many requests as fit into its time budget, pipelined
 * ones last. The admission also estimates when the bytes of a request arrived.
 */

import type { PendingRequest, UnparsedConnection } from '../pending-request.ts'

/** An entry of the queue. */
type Next = PendingRequest | UnparsedConnection

/** Milliseconds of a tick in which requests are started. Then sockets are read again. */
const TICK_BUDGET_MS = 8
/** The same after a connection arrived from the primary, because a worker gets only one per tick. */
const SHORT_TICK_BUDGET_MS = 0.5
/** The maximum number of pipelined requests that one tick starts. */
const PIPELINED_PER_TICK = 4
/**
 * Milliseconds after which a pipelined request takes precedence over others. Otherwise, in a constant overload,
 * pipelined requests would be neither started nor rejected.
 */
const MAX_PIPELINED_DELAY_MS = 10
/** The maximum number of scheduled steps. */
const MAX_SCHEDULED_STEPS = 256
/** Milliseconds between two samples of the processor time while no requests arrive. */
const CPU_SAMPLE_MS = 100

export class Admission {
  readonly #monotonicMs: () => number
  readonly #firstQueue = new RequestQueue()
  readonly #pipelinedQueue = new RequestQueue()
  readonly #arrivalClock: ArrivalClock
  readonly #sampleTimer: NodeJS.Timeout
  /** The number of scheduled steps. Each starts one request, so that its synchronous work ends before the next. */
  #scheduled = 0
  #nextTick = 0
  #currentTick = -1
  #tickStartedAt = 0
  #pipelinedStarted = 0
  #lastPipelinedAt = Number.NEGATIVE_INFINITY
  #tickBudget = TICK_BUDGET_MS
  #nextTickIsShort = false

  /** `monotonicMs`: milliseconds of a monotonic clock. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
    this.#arrivalClock = new ArrivalClock(monotonicMs)
    this.#sampleTimer = setInterval(() => setImmediate(() => this.#arrivalClock.markRead()), CPU_SAMPLE_MS).unref()
  }

  close(): void {
    clearInterval(this.#sampleTimer)
  }

  /** The number of requests that wait to be started. */
  get waiting(): number {
    return this.#firstQueue.length + this.#pipelinedQueue.length
  }

  /** The earliest time at which the bytes that are read now may have arrived. */
  earliestArrival(): number {
    return this.#arrivalClock.earliestArrival()
  }

  /** Adds a request to the queue. `isPipelined`: it was sent before the response to the previous one. */
  enqueue(next: Next, isPipelined: boolean): void {
    const queue = isPipelined ? this.#pipelinedQueue : this.#firstQueue
    queue.enqueue(next)
    this.#schedule()
  }

  /** Gives the next tick the short budget. */
  shortenNextTick(): void {
    this.#nextTickIsShort = true
  }

  #schedule(): void {
    if (this.#scheduled >= MAX_SCHEDULED_STEPS || this.#scheduled >= this.waiting) return
    this.#scheduled++
    const tick = this.#nextTick
    setImmediate(() => this.#step(tick))
  }

  #step(tick: number): void {
    this.#scheduled--
    if (tick !== this.#currentTick) this.#startTick(tick)
    const now = this.#monotonicMs()
    const isOver = now - this.#tickStartedAt >= this.#tickBudget
    const next = isOver ? undefined : this.#next(now)
    if (next === undefined) {
      // the next tick continues, with as many steps as it may need
      while (this.#scheduled < MAX_SCHEDULED_STEPS && this.#scheduled < this.waiting) this.#schedule()
      return
    }
    if (this.waiting > 0) this.#schedule()
    next.start()
  }

  #startTick(tick: number): void {
    this.#currentTick = tick
    this.#nextTick = tick + 1
    this.#tickStartedAt = this.#monotonicMs()
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

/** A first-in, first-out queue. It skips requests whose connection has closed. */
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
 * Estimates the earliest time at which the bytes that are read now may have arrived. Sockets were last read at the end
 * of the previous tick. Since then this thread has been busy. Only its processor time counts, not time in which it
 * slept or other processes ran.
 */
class ArrivalClock {
  readonly #monotonicMs: () => number
  #cpuTimeAtRead = threadCpuMilliseconds()
  #earliest: number | null = null

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  /** Records that sockets have just been read. */
  markRead(): void {
    this.#cpuTimeAtRead = threadCpuMilliseconds()
    this.#earliest = null
  }

  earliestArrival(): number {
    this.#earliest ??= this.#monotonicMs() - (threadCpuMilliseconds() - this.#cpuTimeAtRead)
    return this.#earliest
  }
}

/** The processor time of this thread, in milliseconds. */
function threadCpuMilliseconds(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
