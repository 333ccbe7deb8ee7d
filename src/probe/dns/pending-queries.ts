/** The open queries of one socket, by ID. Each waits for its answer or its deadline. */

import { randomFillSync } from 'node:crypto'
import { setStallTolerantTimeout, stallAdjustedNow } from '../stall-timer.ts'
import { type DnsQuery, isAnswerTo, messageId } from './message/query.ts'

/**
 * The outcome of one query at one server. A message that passed isAnswerTo, or `timeout`. `lost`: the server closed the
 * connection. `unreachable`: no route, no server at the port, or this socket closes.
 */
export type RawDnsResponse = Uint8Array | 'timeout' | 'lost' | 'unreachable'

/** `deadline`: a time of stallAdjustedNow(). */
type PendingQuery = { query: DnsQuery; deadline: number; resolve(response: RawDnsResponse): void }

export class PendingQueries {
  readonly #queries = new Map<number, PendingQuery>()
  readonly #onSettled: (response: RawDnsResponse) => void
  #cancelTimer: () => void = () => {}
  /** When the timer fires. Infinity if no timer is set. */
  #nextDeadline = Number.POSITIVE_INFINITY

  /** `onSettled` is called with the response each time that a query is settled. */
  constructor(onSettled: (response: RawDnsResponse) => void) {
    this.#onSettled = onSettled
  }

  get size(): number {
    return this.#queries.size
  }

  /** A random ID that no open query uses. */
  freeId(): number {
    let id = random16()
    while (this.#queries.has(id)) id = random16()
    return id
  }

  /** Waits this many milliseconds, and longer by the time that this process stalls. Never rejects. */
  add(id: number, query: DnsQuery, timeoutMs: number): Promise<RawDnsResponse> {
    const deadline = stallAdjustedNow() + timeoutMs
    if (deadline < this.#nextDeadline) this.#setTimer(deadline)
    return new Promise((resolve) => {
      this.#queries.set(id, { query, deadline, resolve })
    })
  }

  /** Ignores a message that does not answer an open query, because the true answer may still arrive. */
  receive(message: Uint8Array): void {
    const id = messageId(message)
    const query = this.#queries.get(id)
    if (query !== undefined && isAnswerTo(message, query.query)) this.#settle(id, query, message)
  }

  settleAll(response: RawDnsResponse): void {
    for (const [id, query] of [...this.#queries]) this.#settle(id, query, response)
  }

  #settle(id: number, query: PendingQuery, response: RawDnsResponse): void {
    this.#queries.delete(id)
    query.resolve(response)
    if (this.#queries.size === 0) this.#setTimer(Number.POSITIVE_INFINITY)
    this.#onSettled(response)
  }

  /** One timer serves all queries, because most are settled long before it fires. */
  #setTimer(deadline: number): void {
    this.#cancelTimer()
    this.#nextDeadline = deadline
    const milliseconds = Math.max(1, Math.ceil(deadline - stallAdjustedNow()))
    if (deadline !== Number.POSITIVE_INFINITY)
      this.#cancelTimer = setStallTolerantTimeout(milliseconds, () => this.#expire())
  }

  #expire(): void {
    const now = stallAdjustedNow()
    for (const [id, query] of [...this.#queries]) if (query.deadline <= now) this.#settle(id, query, 'timeout')
    let next = Number.POSITIVE_INFINITY
    for (const { deadline } of this.#queries.values()) next = Math.min(next, deadline)
    this.#setTimer(next)
  }
}

const randomValues = new Uint16Array(4096)
let randomValuesLeft = 0

/** 16 unpredictable bits. */
export function random16(): number {
  if (randomValuesLeft === 0) {
    randomFillSync(randomValues)
    randomValuesLeft = randomValues.length
  }
  return randomValues[--randomValuesLeft]!
}
