/** Names of a list that are visited once more: their visits were thrown away, or could not look. */

import type { NameEntry } from './name-list.ts'

/** A name that could not be looked at is visited so often. */
const MAX_PROBES_PER_NAME = 3
/** So many names that could not be looked at are kept for the end of the list. */
const MAX_DEFERRED_RETRIES = 20_000

export class RetryList {
  readonly #ready: NameEntry[] = []
  readonly #deferred: NameEntry[] = []
  /** How often names could not be looked at, by their lines. */
  readonly #failures = new Map<number, number>()

  get size(): number {
    return this.#ready.length
  }

  /** The next one; null for none. */
  take(): NameEntry | null {
    return this.#ready.shift() ?? null
  }

  /** As soon as visits may begin. */
  add(entries: readonly NameEntry[]): void {
    this.#ready.push(...entries)
  }

  /** At the end of the list. False for a name that is given up. */
  addDeferred(entry: NameEntry): boolean {
    const count = (this.#failures.get(entry.line) ?? 0) + 1
    if (count >= MAX_PROBES_PER_NAME || this.#deferred.length >= MAX_DEFERRED_RETRIES) return false
    this.#failures.set(entry.line, count)
    this.#deferred.push(entry)
    return true
  }

  /** The end of the list has come: those for the end are next. False where nobody is left. */
  releaseDeferred(): boolean {
    this.#ready.push(...this.#deferred.splice(0))
    return this.#ready.length > 0
  }
}
