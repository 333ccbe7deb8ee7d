/** Whether the path to one resolver lets questions with EDNS through (RFC 6891, section 7: some firewalls drop them). */

/** So many questions in a row that only pass without EDNS say that the path has changed. */
const PLAIN_ANSWERS_UNTIL_DROPPED = 5
/** Milliseconds after which a path that drops EDNS is tried with it again. */
const EDNS_RETRY_AFTER_MS = 600_000

export class EdnsSupport {
  readonly #nowMs: () => number
  #state: 'unknown' | 'passes' | 'dropped' = 'unknown'
  #droppedAt = 0
  #plainInARow = 0

  /** `ticks`: milliseconds of a clock that is never set back. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  get isDropped(): boolean {
    return this.#state === 'dropped'
  }

  /** Whether an attempt carries EDNS. `hasTimedOut`: an earlier attempt did; `isLast`: no other attempt follows. */
  shouldUse({ hasTimedOut, isLast }: { hasTimedOut: boolean; isLast: boolean }): boolean {
    if (this.#state === 'dropped') return !hasTimedOut && this.#nowMs() - this.#droppedAt >= EDNS_RETRY_AFTER_MS
    return !hasTimedOut || (this.#state === 'passes' && !isLast)
  }

  /** A question was answered. `hasTimedOut`: with EDNS it was not, before. */
  recordAnswer({ hasEdns, hasTimedOut }: { hasEdns: boolean; hasTimedOut: boolean }): void {
    if (hasEdns) {
      this.#state = 'passes'
      this.#plainInARow = 0
    } else if (hasTimedOut && (++this.#plainInARow >= PLAIN_ANSWERS_UNTIL_DROPPED || this.#state !== 'passes')) {
      this.#state = 'dropped'
      this.#droppedAt = this.#nowMs()
    }
  }
}
