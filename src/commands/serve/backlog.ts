/** The backlog: accepted connections that wait for a worker, each of which is handed one at a time. */

import type { Socket } from 'node:net'

/** An accepted connection. `key`: what it is counted under, null if it is not. `at`: milliseconds when it was accepted. */
export type Pending = { number: number; socket: Socket; key: string | null; at: number }

/** A worker, as far as it takes connections: `hand` sends it one, and a worker that cannot take it any more is removed. */
export type Taker = { hand: (pending: Pending) => void }

/** Milliseconds that a connection waits for a worker if there are many; then it is refused. */
const PATIENCE = 1_000
/** Connections up to which the workers are not overloaded but late; these wait longer. */
const FEW = 64
const FEW_PATIENCE = 10_000
/** Milliseconds between two looks for those that have waited too long. */
const LOOK = 100

type Waiting = { pending: Pending; taken: (taker: Taker) => void }

export class Backlog {
  readonly #refuse: (pending: Pending) => void
  #waiting: Waiting[] = []
  #free: Taker[] = []
  /** What each worker was handed and has not acknowledged. */
  readonly #handed = new Map<Taker, Waiting>()
  #look: NodeJS.Timeout | null = null
  #onEmpty: (() => void) | null = null
  /** Nobody takes anything any more. */
  #isOver = false

  /** `refuse` gets what has waited too long. */
  constructor(refuse: (pending: Pending) => void) {
    this.#refuse = refuse
  }

  get length(): number {
    return this.#waiting.length
  }

  /** Adds a connection; `taken` hears which worker is handed it. */
  add(pending: Pending, taken: (taker: Taker) => void): void {
    this.#waiting.push({ pending, taken })
    this.#hand()
    this.#look ??= this.length === 0 ? null : setInterval(() => this.#refuseOld(), LOOK).unref()
  }

  /** A worker may be handed a connection. */
  free(taker: Taker): void {
    this.#free.push(taker)
    this.#hand()
  }

  /** The connection that a worker was handed is its own now; null if it was handed none. */
  acknowledge(taker: Taker): Pending | null {
    const handed = this.#handed.get(taker)
    if (handed === undefined) return null
    this.#handed.delete(taker)
    this.free(taker)
    this.#tellEmpty()
    return handed.pending
  }

  /** A worker takes nothing more. What it was handed and had not acknowledged waits for another one; returns that, null if there is none. */
  forget(taker: Taker): Pending | null {
    this.#free = this.#free.filter((each) => each !== taker)
    const handed = this.#handed.get(taker)
    this.#handed.delete(taker)
    if (handed !== undefined && this.#isOver) this.#refuse(handed.pending)
    else if (handed !== undefined) this.#waiting.unshift(handed)
    this.#hand()
    this.#tellEmpty()
    return handed?.pending ?? null
  }

  /** Resolves when nothing waits; after so many milliseconds the rest is refused. */
  async empty(milliseconds: number): Promise<void> {
    if (this.#isEmpty()) return
    const timer = setTimeout(() => this.#giveUp(), milliseconds)
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve
    })
    clearTimeout(timer)
  }

  #hand(): void {
    while (this.#waiting.length > 0 && this.#free.length > 0) {
      // of many the newest: the oldest would be refused soon after, for having waited
      const waiting = this.length > FEW ? this.#waiting.pop()! : this.#waiting.shift()!
      const taker = this.#free.shift()!
      this.#handed.set(taker, waiting)
      waiting.taken(taker)
      taker.hand(waiting.pending)
    }
  }

  #refuseOld(): void {
    const now = performance.now()
    const isOld = ({ pending }: Waiting): boolean => now - pending.at > (this.length > FEW ? PATIENCE : FEW_PATIENCE)
    while (this.#waiting.length > 0 && isOld(this.#waiting[0]!)) this.#refuse(this.#waiting.shift()!.pending)
    if (this.#waiting.length === 0 && this.#look !== null) {
      clearInterval(this.#look)
      this.#look = null
    }
    this.#tellEmpty()
  }

  /** What was handed stays so: a worker may acknowledge it yet, and its end says that it does not. */
  #giveUp(): void {
    this.#isOver = true
    for (const { pending } of this.#waiting.splice(0)) this.#refuse(pending)
    this.#onEmpty?.()
  }

  #isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#handed.size === 0
  }

  #tellEmpty(): void {
    if (this.#isEmpty()) this.#onEmpty?.()
  }
}
