/** The backlog: accepted connections that wait for a worker, each of which is handed one at a time. */

import type { Socket } from 'node:net'

/** An accepted connection. `key`: what it is counted under, null if it is not. `at`: milliseconds when it was accepted. */
export type AcceptedConnection = { number: number; socket: Socket; key: string | null; acceptedAt: number }

/** A worker, as far as it takes connections: `hand` sends it one, and a worker that cannot take it any more is removed. */
export type ConnectionReceiver = { send: (pending: AcceptedConnection) => void }

/** Milliseconds that a connection waits for a worker if there are many; then it is refused. */
const MAX_WAIT_FOR_WORKER_MS = 1_000
/** Connections up to which the workers are not overloaded but late; these wait longer. */
const BACKLOG_OVERLOAD_THRESHOLD = 64
const MAX_WAIT_BELOW_OVERLOAD_MS = 10_000
/** Milliseconds between two looks for those that have waited too long. */
const EXPIRY_CHECK_MS = 100

type QueuedConnection = { pending: AcceptedConnection; onHanded: (taker: ConnectionReceiver) => void }

export class ConnectionBacklog {
  readonly #onExpired: (pending: AcceptedConnection) => void
  #waiting: QueuedConnection[] = []
  freeReceivers: ConnectionReceiver[] = []
  /** What each worker was handed and has not acknowledged. */
  readonly #handed = new Map<ConnectionReceiver, QueuedConnection>()
  #expiryTimer: NodeJS.Timeout | null = null
  #onEmpty: (() => void) | null = null
  /** Nobody takes anything any more. */
  #isClosed = false

  /** `refuse` gets what has waited too long. */
  constructor(onExpired: (pending: AcceptedConnection) => void) {
    this.#onExpired = onExpired
  }

  get length(): number {
    return this.#waiting.length
  }

  /** Adds a connection; `taken` hears which worker is handed it. */
  add(pending: AcceptedConnection, onHanded: (taker: ConnectionReceiver) => void): void {
    this.#waiting.push({ pending, onHanded })
    this.#assign()
    this.#expiryTimer ??= this.length === 0 ? null : setInterval(() => this.#expireOld(), EXPIRY_CHECK_MS).unref()
  }

  /** A worker may be handed a connection. */
  addFreeReceiver(taker: ConnectionReceiver): void {
    this.freeReceivers.push(taker)
    this.#assign()
  }

  /** The connection that a worker was handed is its own now; null if it was handed none. */
  acknowledge(taker: ConnectionReceiver): AcceptedConnection | null {
    const handed = this.#handed.get(taker)
    if (handed === undefined) return null
    this.#handed.delete(taker)
    this.addFreeReceiver(taker)
    this.#notifyIfEmpty()
    return handed.pending
  }

  /** A worker takes nothing more. What it was handed and had not acknowledged waits for another one; returns that, null if there is none. */
  removeReceiver(taker: ConnectionReceiver): AcceptedConnection | null {
    this.freeReceivers = this.freeReceivers.filter((each) => each !== taker)
    const handed = this.#handed.get(taker)
    this.#handed.delete(taker)
    if (handed !== undefined && this.#isClosed) this.#onExpired(handed.pending)
    else if (handed !== undefined) this.#waiting.unshift(handed)
    this.#assign()
    this.#notifyIfEmpty()
    return handed?.pending ?? null
  }

  /** Resolves when nothing waits; after so many milliseconds the rest is refused. */
  async drain(milliseconds: number): Promise<void> {
    if (this.#isEmpty()) return
    const timer = setTimeout(() => this.#rejectRemaining(), milliseconds)
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve
    })
    clearTimeout(timer)
  }

  #assign(): void {
    while (this.#waiting.length > 0 && this.freeReceivers.length > 0) {
      // of many the newest: the oldest would be refused soon after, for having waited
      const waiting = this.length > BACKLOG_OVERLOAD_THRESHOLD ? this.#waiting.pop()! : this.#waiting.shift()!
      const taker = this.freeReceivers.shift()!
      this.#handed.set(taker, waiting)
      waiting.onHanded(taker)
      taker.send(waiting.pending)
    }
  }

  #expireOld(): void {
    const now = performance.now()
    const isOld = ({ pending }: QueuedConnection): boolean =>
      now - pending.acceptedAt >
      (this.length > BACKLOG_OVERLOAD_THRESHOLD ? MAX_WAIT_FOR_WORKER_MS : MAX_WAIT_BELOW_OVERLOAD_MS)
    while (this.#waiting.length > 0 && isOld(this.#waiting[0]!)) this.#onExpired(this.#waiting.shift()!.pending)
    if (this.#waiting.length === 0 && this.#expiryTimer !== null) {
      clearInterval(this.#expiryTimer)
      this.#expiryTimer = null
    }
    this.#notifyIfEmpty()
  }

  /** What was handed stays so: a worker may acknowledge it yet, and its end says that it does not. */
  #rejectRemaining(): void {
    this.#isClosed = true
    for (const { pending } of this.#waiting.splice(0)) this.#onExpired(pending)
    this.#onEmpty?.()
  }

  #isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#handed.size === 0
  }

  #notifyIfEmpty(): void {
    if (this.#isEmpty()) this.#onEmpty?.()
  }
}
