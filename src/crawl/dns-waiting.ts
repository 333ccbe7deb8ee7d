/** Who waits on one socket: questions under their ids, each until its answer or its deadline. */

import { randomFillSync } from 'node:crypto'
import { idOf, isAnswerTo, type Query } from './dns-query.ts'
import { fairTime, waitFor } from './patience.ts'

/**
 * What one question to one server came to: a message that isAnswerTo lets pass; nothing in time; that the server closed
 * the connection; that it could not be asked, as there is no route, nobody at that port, or we close.
 */
export type Heard = Uint8Array | 'timeout' | 'lost' | 'unreachable'

/** `until`: of fairTime(). */
type Waiter = { query: Query; until: number; tell(heard: Heard): void }

export class Waiting {
  readonly #waiters = new Map<number, Waiter>()
  readonly #told: (heard: Heard) => void
  #stop: () => void = () => {}
  /** When it goes off; Infinity where none is set. */
  #next = Number.POSITIVE_INFINITY

  /** `told` is called with what was told each time that somebody waits no more. */
  constructor(told: (heard: Heard) => void) {
    this.#told = told
  }

  get size(): number {
    return this.#waiters.size
  }

  /** An id that nobody has here. */
  freeId(): number {
    let id = dice()
    while (this.#waiters.has(id)) id = dice()
    return id
  }

  /** Waits until a moment of performance.now(), and as much longer as this process stands still. Never rejects. */
  add(id: number, query: Query, moment: number): Promise<Heard> {
    const until = fairTime() + moment - performance.now()
    if (until < this.#next) this.#wind(until)
    return new Promise((tell) => {
      this.#waiters.set(id, { query, until, tell })
    })
  }

  /** What is no answer to a question that waits is passed by: the true answer may still come. */
  hear(message: Uint8Array): void {
    const id = idOf(message)
    const waiter = this.#waiters.get(id)
    if (waiter !== undefined && isAnswerTo(message, waiter.query)) this.#tell(id, waiter, message)
  }

  tellAll(heard: Heard): void {
    for (const [id, waiter] of [...this.#waiters]) this.#tell(id, waiter, heard)
  }

  #tell(id: number, waiter: Waiter, heard: Heard): void {
    this.#waiters.delete(id)
    waiter.tell(heard)
    if (this.#waiters.size === 0) this.#wind(Number.POSITIVE_INFINITY)
    this.#told(heard)
  }

  /** One timer for all, as most are told long before. */
  #wind(until: number): void {
    this.#stop()
    this.#next = until
    const milliseconds = Math.max(1, Math.ceil(until - fairTime()))
    if (until !== Number.POSITIVE_INFINITY) this.#stop = waitFor(milliseconds, () => this.#ring())
  }

  #ring(): void {
    const now = fairTime()
    for (const [id, waiter] of [...this.#waiters]) if (waiter.until <= now) this.#tell(id, waiter, 'timeout')
    let next = Number.POSITIVE_INFINITY
    for (const { until } of this.#waiters.values()) next = Math.min(next, until)
    this.#wind(next)
  }
}

const thrown = new Uint16Array(4096)
let left = 0

/** 16 bits that nobody foresees. */
export function dice(): number {
  if (left === 0) {
    randomFillSync(thrown)
    left = thrown.length
  }
  return thrown[--left]!
}
