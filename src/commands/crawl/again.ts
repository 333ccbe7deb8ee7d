/** Names of a list that are visited once more: their visits were thrown away, or could not look. */

import type { Named } from './list.ts'

/** A name that could not be looked at is visited so often. */
const VISITS = 3
/** So many names that could not be looked at are kept for the end of the list. */
const MOST_LATER = 20_000

export class Again {
  readonly #now: Named[] = []
  readonly #later: Named[] = []
  /** How often names could not be looked at, by their lines. */
  readonly #unseen = new Map<number, number>()

  get size(): number {
    return this.#now.length
  }

  /** The next one; null for none. */
  take(): Named | null {
    return this.#now.shift() ?? null
  }

  /** As soon as visits may begin. */
  add(entries: readonly Named[]): void {
    this.#now.push(...entries)
  }

  /** At the end of the list. False for a name that is given up. */
  addLater(entry: Named): boolean {
    const count = (this.#unseen.get(entry.line) ?? 0) + 1
    if (count >= VISITS || this.#later.length >= MOST_LATER) return false
    this.#unseen.set(entry.line, count)
    this.#later.push(entry)
    return true
  }

  /** The end of the list has come: those for the end are next. False where nobody is left. */
  hasMore(): boolean {
    this.#now.push(...this.#later.splice(0))
    return this.#now.length > 0
  }
}
