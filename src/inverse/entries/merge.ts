/** Merges sorted runs of the inverse index: the union of their entries, in order. */

import { type EntryCursor, MAX_KEY_BYTES } from './block.ts'

const BEGINNING = new Uint8Array()

/**
 * The entries of several cursors, in order. Entries with the same key are one entry, whose events are those of all,
 * each once. Whatever is written twice is therefore read once, and the order of the runs does not matter.
 */
export class MergedEntries {
  /** The key of the current entry: the first `keyLength` bytes. */
  readonly key = Buffer.allocUnsafe(MAX_KEY_BYTES)
  keyLength = 0
  /** The events of the current entry, ascending. */
  events: number[] = []
  /** A binary heap by key. */
  readonly #heap: EntryCursor[] = []

  /** `from`: leaves out the entries before it, as `EntryCursor.seek`. */
  constructor(cursors: readonly EntryCursor[], from: Uint8Array = BEGINNING) {
    for (const cursor of cursors) if (cursor.seek(from)) this.#push(cursor)
  }

  /** Moves to the next entry. Returns false at the end. */
  next(): boolean {
    const first = this.#heap[0]
    if (first === undefined) return false
    this.keyLength = first.keyLength
    for (let at = 0; at < first.keyLength; at++) this.key[at] = first.key[at]!
    const events: number[] = []
    let isSorted = true
    for (let top = this.#heap[0]; top !== undefined && this.#isCurrent(top); top = this.#heap[0]) {
      for (let index = 0; index < top.eventCount; index++) {
        const event = top.events[index]!
        if (events.length > 0 && event <= events.at(-1)!) isSorted = false
        events.push(event)
      }
      this.#advanceTop(top)
    }
    this.events = isSorted ? events : sortedOnce(events)
    return true
  }

  /** The key as a text of one character per byte. */
  keyText(): string {
    return this.key.toString('latin1', 0, this.keyLength)
  }

  #isCurrent(cursor: EntryCursor): boolean {
    if (cursor.keyLength !== this.keyLength) return false
    let at = this.keyLength - 1 // keys of one value differ in the names at their ends
    while (at >= 0 && cursor.key[at] === this.key[at]) at--
    return at < 0
  }

  #advanceTop(top: EntryCursor): void {
    if (!top.next()) {
      const last = this.#heap.pop()!
      if (this.#heap.length === 0) return
      this.#heap[0] = last
    }
    this.#sink(0)
  }

  #push(cursor: EntryCursor): void {
    let at = this.#heap.push(cursor) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(this.#heap[at]!, this.#heap[parent]!)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  #sink(from: number): void {
    let at = from
    for (;;) {
      const left = 2 * at + 1
      if (left >= this.#heap.length) return
      const right = left + 1
      const child = right < this.#heap.length && isBefore(this.#heap[right]!, this.#heap[left]!) ? right : left
      if (!isBefore(this.#heap[child]!, this.#heap[at]!)) return
      this.#swap(at, child)
      at = child
    }
  }

  #swap(a: number, b: number): void {
    const moved = this.#heap[a]!
    this.#heap[a] = this.#heap[b]!
    this.#heap[b] = moved
  }
}

function sortedOnce(events: readonly number[]): number[] {
  return [...new Set(events)].sort((a, b) => a - b)
}

function isBefore(a: EntryCursor, b: EntryCursor): boolean {
  return compareKeys(a.key, a.keyLength, b.key, b.keyLength) < 0
}

/** Compares the first bytes of two keys. */
export function compareKeys(a: Uint8Array, aLength: number, b: Uint8Array, bLength: number): number {
  const most = Math.min(aLength, bLength)
  for (let at = 0; at < most; at++) if (a[at] !== b[at]) return a[at]! - b[at]!
  return aLength - bLength
}
