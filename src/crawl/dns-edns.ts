/** Whether the path to one resolver lets questions with EDNS through (RFC 6891, section 7: some firewalls drop them). */

/** So many questions in a row that only pass without EDNS say that the path has changed. */
const CHANGED = 5
/** Milliseconds after which a path that drops EDNS is tried with it again. */
const AGAIN = 600_000

export class EdnsSupport {
  readonly #ticks: () => number
  #state: 'unknown' | 'passes' | 'dropped' = 'unknown'
  #droppedAt = 0
  #plainInARow = 0

  /** `ticks`: milliseconds of a clock that is never set back. */
  constructor(ticks: () => number = () => performance.now()) {
    this.#ticks = ticks
  }

  get isDropped(): boolean {
    return this.#state === 'dropped'
  }

  /** Whether an attempt carries EDNS. `hasTimedOut`: an earlier attempt did; `isLast`: no other attempt follows. */
  isWanted({ hasTimedOut, isLast }: { hasTimedOut: boolean; isLast: boolean }): boolean {
    if (this.#state === 'dropped') return !hasTimedOut && this.#ticks() - this.#droppedAt >= AGAIN
    return !hasTimedOut || (this.#state === 'passes' && !isLast)
  }

  /** A question was answered. `hasTimedOut`: with EDNS it was not, before. */
  answered({ hasEdns, hasTimedOut }: { hasEdns: boolean; hasTimedOut: boolean }): void {
    if (hasEdns) {
      this.#state = 'passes'
      this.#plainInARow = 0
    } else if (hasTimedOut && (++this.#plainInARow >= CHANGED || this.#state !== 'passes')) {
      this.#state = 'dropped'
      this.#droppedAt = this.#ticks()
    }
  }
}
