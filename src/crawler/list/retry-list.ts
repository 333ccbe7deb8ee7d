/** Names of a list to probe again, because their batch was discarded or they could not be probed. */

import type { NameEntry } from './name-list.ts'

/** Maximum of probes for a name that could not be probed. */
const MAX_PROBES_PER_NAME = 3
/** Maximum of names that are retried at the end of the list. */
const MAX_DEFERRED_RETRIES = 20_000

export class RetryList {
  readonly #ready: NameEntry[] = []
  readonly #deferred: NameEntry[] = []
  /** How often each name could not be probed, by line. */
  readonly #failures = new Map<number, number>()

  get size(): number {
    return this.#ready.length
  }

  /** Takes the next name. Returns null if there is none. */
  take(): NameEntry | null {
    return this.#ready.shift() ?? null
  }

  /** Adds names to probe as soon as possible. */
  add(entries: readonly NameEntry[]): void {
    this.#ready.push(...entries)
  }

  /** Adds a name to probe at the end of the list. Returns false if it has no attempts left. */
  addDeferred(entry: NameEntry): boolean {
    const count = (this.#failures.get(entry.line) ?? 0) + 1
    if (count >= MAX_PROBES_PER_NAME || this.#deferred.length >= MAX_DEFERRED_RETRIES) return false
    this.#failures.set(entry.line, count)
    this.#deferred.push(entry)
    return true
  }

  /** Releases the deferred names at the end of the list. Returns false if none is left. */
  releaseDeferred(): boolean {
    this.#ready.push(...this.#deferred.splice(0))
    return this.#ready.length > 0
  }
}
