/** The backlog of accepted connections that wait for a worker. Each worker gets one at a time. */

import type { Socket } from 'node:net'

/** An accepted connection. `key`: of its client, null if it is not counted. `acceptedAt`: monotonic milliseconds. */
export type AcceptedConnection = { number: number; socket: Socket; key: string | null; acceptedAt: number }

/** A worker that takes connections. `send` sends it one. */
export type ConnectionReceiver = { send: (pending: AcceptedConnection) => void }

/** Milliseconds after which a waiting connection is rejected, if the workers are overloaded. */
const MAX_WAIT_FOR_WORKER_MS = 1_000
/** If more connections wait, the workers are overloaded. */
const BACKLOG_OVERLOAD_THRESHOLD = 64
/** Milliseconds after which a waiting connection is rejected, if the workers are not overloaded. */
const MAX_WAIT_BELOW_OVERLOAD_MS = 10_000
/** Milliseconds between two checks for connections that have waited too long. */
const EXPIRY_CHECK_MS = 100

type QueuedConnection = { pending: AcceptedConnection; onHanded: (receiver: ConnectionReceiver) => void }

export class ConnectionBacklog {
  readonly #onExpired: (pending: AcceptedConnection) => void
  #waiting: QueuedConnection[] = []
  #freeReceivers: ConnectionReceiver[] = []
  /** The connections that were sent to a worker and are not acknowledged. */
  readonly #handed = new Map<ConnectionReceiver, QueuedConnection>()
  #expiryTimer: NodeJS.Timeout | null = null
  #onEmpty: (() => void) | null = null
  /** Whether the rest was rejected: drain() has timed out. */
  #isClosed = false
  #isHeld = false

  /** `onExpired` is called with each connection that has waited too long. */
  constructor(onExpired: (pending: AcceptedConnection) => void) {
    this.#onExpired = onExpired
  }

  get length(): number {
    return this.#waiting.length
  }

  /** Holds all connections, without a timeout, until release() is called. */
  hold(): void {
    this.#isHeld = true
  }

  /** Sends connections to workers again. */
  release(): void {
    this.#isHeld = false
    const now = performance.now()
    for (const { pending } of this.#waiting) pending.acceptedAt = now // they waited for the listener, not for a worker
    this.#assign()
  }

  /** Adds a connection. Calls `onHanded` with the worker to which the connection is sent. */
  add(pending: AcceptedConnection, onHanded: (receiver: ConnectionReceiver) => void): void {
    this.#waiting.push({ pending, onHanded })
    this.#assign()
  }

  /** Adds a worker that is free for a connection. */
  addFreeReceiver(receiver: ConnectionReceiver): void {
    this.#freeReceivers.push(receiver)
    this.#assign()
  }

  /** Records that a worker has taken its connection. Returns the connection; null if none was sent to it. */
  acknowledge(receiver: ConnectionReceiver): AcceptedConnection | null {
    const handed = this.#handed.get(receiver)
    if (handed === undefined) return null
    this.#handed.delete(receiver)
    this.addFreeReceiver(receiver)
    this.#notifyIfEmpty()
    return handed.pending
  }

  /** Removes a worker. Returns the connection that it has not acknowledged, which waits for another worker, or null. */
  removeReceiver(receiver: ConnectionReceiver): AcceptedConnection | null {
    this.#freeReceivers = this.#freeReceivers.filter((each) => each !== receiver)
    const handed = this.#handed.get(receiver)
    this.#handed.delete(receiver)
    if (handed !== undefined && this.#isClosed) this.#onExpired(handed.pending)
    else if (handed !== undefined) this.#waiting.unshift(handed)
    this.#assign()
    this.#notifyIfEmpty()
    return handed?.pending ?? null
  }

  /** Resolves when no connection waits. After the given milliseconds, the backlog rejects the rest. */
  async drain(milliseconds: number): Promise<void> {
    if (this.#isEmpty()) return
    const timer = setTimeout(() => this.#rejectRemaining(), milliseconds)
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve
    })
    clearTimeout(timer)
  }

  /** Sends waiting connections to free workers. If some still wait, their age is checked regularly. */
  #assign(): void {
    while (!this.#isHeld && this.#waiting.length > 0 && this.#freeReceivers.length > 0) {
      // in an overload the newest first: the oldest would be rejected soon after because of their wait
      const next = this.length > BACKLOG_OVERLOAD_THRESHOLD ? this.#waiting.pop()! : this.#waiting.shift()!
      const receiver = this.#freeReceivers.shift()!
      this.#handed.set(receiver, next)
      next.onHanded(receiver)
      receiver.send(next.pending)
    }
    if (this.length > 0) this.#expiryTimer ??= setInterval(() => this.#expireOld(), EXPIRY_CHECK_MS).unref()
  }

  #expireOld(): void {
    if (this.#isHeld) return
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

  /** Rejects the waiting connections. A worker may still acknowledge its connection, or end without that. */
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
