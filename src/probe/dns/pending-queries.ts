/** Who waits on one socket: questions under their ids, each until its answer or its deadline. */

import { randomFillSync } from 'node:crypto'
import { setStallTolerantTimeout, stallAdjustedNow } from '../stall-timer.ts'
import { type DnsQuery, isAnswerTo, messageId } from './query.ts'

/**
 * What one question to one server came to: a message that isAnswerTo lets pass; nothing in time; that the server closed
 * the connection; that it could not be asked, as there is no route, nobody at that port, or we close.
 */
export type RawDnsResponse = Uint8Array | 'timeout' | 'lost' | 'unreachable'

/** `until`: of fairTime(). */
type PendingQuery = { query: DnsQuery; deadline: number; resolve(response: RawDnsResponse): void }

export class PendingQueries {
  readonly #queries = new Map<number, PendingQuery>()
  readonly #onSettled: (heard: RawDnsResponse) => void
  #cancelTimer: () => void = () => {}
  /** When it goes off; Infinity where none is set. */
  #nextDeadline = Number.POSITIVE_INFINITY

  /** `told` is called with what was told each time that somebody waits no more. */
  constructor(onSettled: (heard: RawDnsResponse) => void) {
    this.#onSettled = onSettled
  }

  get size(): number {
    return this.#queries.size
  }

  /** An id that nobody has here. */
  freeId(): number {
    let id = random16()
    while (this.#queries.has(id)) id = random16()
    return id
  }

  /** Waits until a moment of performance.now(), and as much longer as this process stands still. Never rejects. */
  add(id: number, query: DnsQuery, deadline: number): Promise<RawDnsResponse> {
    const adjustedDeadline = stallAdjustedNow() + deadline - performance.now()
    if (adjustedDeadline < this.#nextDeadline) this.#setTimer(adjustedDeadline)
    return new Promise((resolve) => {
      this.#queries.set(id, { query, deadline: adjustedDeadline, resolve })
    })
  }

  /** What is no answer to a question that waits is passed by: the true answer may still come. */
  receive(message: Uint8Array): void {
    const id = messageId(message)
    const waiter = this.#queries.get(id)
    if (waiter !== undefined && isAnswerTo(message, waiter.query)) this.#settle(id, waiter, message)
  }

  settleAll(response: RawDnsResponse): void {
    for (const [id, waiter] of [...this.#queries]) this.#settle(id, waiter, response)
  }

  #settle(id: number, waiter: PendingQuery, response: RawDnsResponse): void {
    this.#queries.delete(id)
    waiter.resolve(response)
    if (this.#queries.size === 0) this.#setTimer(Number.POSITIVE_INFINITY)
    this.#onSettled(response)
  }

  /** One timer for all, as most are told long before. */
  #setTimer(deadline: number): void {
    this.#cancelTimer()
    this.#nextDeadline = deadline
    const milliseconds = Math.max(1, Math.ceil(deadline - stallAdjustedNow()))
    if (deadline !== Number.POSITIVE_INFINITY)
      this.#cancelTimer = setStallTolerantTimeout(milliseconds, () => this.#expire())
  }

  #expire(): void {
    const now = stallAdjustedNow()
    for (const [id, waiter] of [...this.#queries]) if (waiter.deadline <= now) this.#settle(id, waiter, 'timeout')
    let next = Number.POSITIVE_INFINITY
    for (const { deadline: until } of this.#queries.values()) next = Math.min(next, until)
    this.#setTimer(next)
  }
}

const randomValues = new Uint16Array(4096)
let randomValuesLeft = 0

/** 16 bits that nobody foresees. */
export function random16(): number {
  if (randomValuesLeft === 0) {
    randomFillSync(randomValues)
    randomValuesLeft = randomValues.length
  }
  return randomValues[--randomValuesLeft]!
}
