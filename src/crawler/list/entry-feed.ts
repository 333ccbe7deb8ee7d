/** Feeds the entries of a list to its crawl in their order, as many as may start. */

import type { ListEntry } from './name-list.ts'

type EntryFeedOptions<Known> = {
  entries: AsyncIterable<ListEntry>
  /** Reads what is known about an entry. Several entries may be loaded at the same time. */
  load(entry: ListEntry): Promise<Known>
  /** Called for one entry after the other, in their order. */
  start(entry: ListEntry, known: Known): void
  /** Called after an entry was started, and at the end of the list. */
  onChange(): void
  /** An error of the list, or of `load` or `start`. */
  onError(error: unknown): void
}

export class EntryFeed<Known> {
  readonly #options: EntryFeedOptions<Known>
  readonly #iterator: AsyncIterator<ListEntry>
  /** Entries that precede the rest of the list. */
  readonly #retries: ListEntry[] = []
  /** How many more lines may be read now. */
  #wanted = 0
  #isReading = false
  #isRead = false
  #loading = 0
  /** Resolves when the last entry was started. */
  #lastStart = Promise.resolve()

  constructor(options: EntryFeedOptions<Known>) {
    this.#options = options
    this.#iterator = options.entries[Symbol.asyncIterator]()
  }

  /** The entries that are not started yet. */
  get loading(): number {
    return this.#loading
  }

  get isEmpty(): boolean {
    return this.#isRead && this.#retries.length === 0 && this.#loading === 0
  }

  /** Adds entries to start again, before the rest of the list. */
  retry(entries: readonly ListEntry[]): void {
    this.#retries.push(...entries)
  }

  /** Starts up to `count` entries soon. */
  request(count: number): void {
    for (this.#wanted = count; this.#wanted > 0 && this.#retries.length > 0; this.#wanted--)
      this.#load(this.#retries.shift()!)
    void this.#read()
  }

  async #read(): Promise<void> {
    if (this.#isReading || this.#isRead) return
    this.#isReading = true
    try {
      for (; this.#wanted > 0 && !this.#isRead; this.#wanted--) {
        const { done, value } = await this.#iterator.next()
        if (done) this.#isRead = true
        else this.#load(value)
      }
    } catch (error) {
      this.#options.onError(error)
    }
    this.#isReading = false
    if (this.#isRead) this.#options.onChange()
  }

  #load(entry: ListEntry): void {
    const { load, start, onChange, onError } = this.#options
    const known = load(entry)
    known.catch(() => {}) // reported below, in the order of the list
    this.#loading++
    this.#lastStart = this.#lastStart
      .then(async () => start(entry, await known))
      .catch(onError)
      .finally(() => {
        this.#loading--
        onChange()
      })
  }
}
