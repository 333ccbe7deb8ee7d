/** Merges sorted runs of the inverse index: the union of their entries, in order. */

import { type EntryCursor, MAX_KEY_BYTES } from './block.ts'

const BEGINNING = new Uint8Array()
/** A byte, or the end of the key. */
const DIGITS_OF_BYTE = 257
/** The code of a cursor without a further entry. */
const NO_KEY = 2 ** 31 - 1

/**
 * The entries of several cursors, in order. Entries with the same key are one entry, whose events are those of all,
 * each once. Whatever is written twice is therefore read once, and the order of the runs does not matter.
 *
 * The cursors are the leaves of a tournament, in which each inner node keeps the loser. Two keys are mostly compared by
 * one number each, their offset-value codes (Conner 1977): how many bytes a key has in common with the last winner, and
 * its next byte. A block says how many bytes a key has in common with the one before.
 */
export class MergedEntries {
  /** The key of the current entry: the first `keyLength` bytes. */
  readonly key = Buffer.allocUnsafe(MAX_KEY_BYTES)
  keyLength = 0
  /** The bytes that the current key has in common with the one before. */
  shared = 0
  /** The events of the current entry, ascending. */
  events: number[] = []
  readonly #cursors: readonly EntryCursor[]
  /** For each cursor the code of its key, in relation to the winner over it. A lower code is an earlier key. */
  readonly #codes: Int32Array
  /** The winner, then the loser of each inner node: numbers of cursors. The children of node n are 2n and 2n + 1. */
  readonly #nodes: Int32Array

  /** `from`: leaves out the entries before it, as `EntryCursor.seek`. */
  constructor(cursors: readonly EntryCursor[], from: Uint8Array = BEGINNING) {
    this.#cursors = cursors
    this.#codes = Int32Array.from(cursors, (cursor) => (cursor.seek(from) ? codeOf(cursor, 0) : NO_KEY))
    this.#nodes = new Int32Array(Math.max(1, cursors.length))
    this.#nodes[0] = cursors.length === 0 ? 0 : this.#play(1)
  }

  /** Moves to the next entry. Returns false at the end. */
  next(): boolean {
    let top = this.#nodes[0]!
    const code = this.#codes[top] ?? NO_KEY
    if (code === NO_KEY) return false
    const { key, keyLength } = this.#cursors[top]!
    this.shared = offsetOf(code)
    for (let at = this.shared; at < keyLength; at++) this.key[at] = key[at]!
    this.keyLength = keyLength
    const sameKey = (MAX_KEY_BYTES - keyLength) * DIGITS_OF_BYTE
    const events: number[] = []
    let isSorted = true
    do {
      const cursor = this.#cursors[top]!
      for (let index = 0; index < cursor.eventCount; index++) {
        const event = cursor.events[index]!
        if (events.length > 0 && event <= events.at(-1)!) isSorted = false
        events.push(event)
      }
      this.#codes[top] = cursor.next() ? codeOf(cursor, cursor.shared) : NO_KEY
      top = this.#replay(top)
    } while (this.#codes[top] === sameKey)
    this.events = isSorted ? events : sortedOnce(events)
    return true
  }

  /** The key as a text of one character per byte. */
  keyText(): string {
    return this.key.toString('latin1', 0, this.keyLength)
  }

  /** Fills the nodes below one. Returns its winner. */
  #play(node: number): number {
    if (node >= this.#cursors.length) return node - this.#cursors.length
    const [left, right] = [this.#play(2 * node), this.#play(2 * node + 1)]
    const isLeft = this.#isWinner(left, right)
    this.#nodes[node] = isLeft ? right : left
    return isLeft ? left : right
  }

  /** Lets the last winner, which has moved on, compete with those that it had won over. Returns the new winner. */
  #replay(last: number): number {
    const nodes = this.#nodes
    let winner = last
    for (let node = (last + this.#cursors.length) >> 1; node > 0; node >>= 1) {
      const other = nodes[node]!
      if (this.#isWinner(winner, other)) continue
      nodes[node] = winner
      winner = other
    }
    nodes[0] = winner
    return winner
  }

  /** Compares two keys whose codes are in relation to one key. Puts the code of the loser in relation to the winner. */
  #isWinner(cursor: number, other: number): boolean {
    const code = this.#codes[cursor]!
    const otherCode = this.#codes[other]!
    if (code !== otherCode) return code < otherCode
    if (code === NO_KEY || code % DIGITS_OF_BYTE === 0) return true
    const [a, b] = [this.#cursors[cursor]!, this.#cursors[other]!]
    const most = Math.min(a.keyLength, b.keyLength)
    let at = offsetOf(code) + 1
    while (at < most && a.key[at] === b.key[at]) at++
    const newCode = codeOf(a, at)
    const newOtherCode = codeOf(b, at)
    if (newCode > newOtherCode) this.#codes[cursor] = newCode
    else this.#codes[other] = newOtherCode
    return newCode <= newOtherCode
  }
}

/** The code of a key that has the first `offset` bytes in common with an earlier or equal key. */
function codeOf({ key, keyLength }: EntryCursor, offset: number): number {
  return (MAX_KEY_BYTES - offset) * DIGITS_OF_BYTE + (offset < keyLength ? key[offset]! + 1 : 0)
}

function offsetOf(code: number): number {
  return MAX_KEY_BYTES - Math.floor(code / DIGITS_OF_BYTE)
}

function sortedOnce(events: readonly number[]): number[] {
  return [...new Set(events)].sort((a, b) => a - b)
}

/** Compares the first bytes of two keys. */
export function compareKeys(a: Uint8Array, aLength: number, b: Uint8Array, bLength: number): number {
  const most = Math.min(aLength, bLength)
  for (let at = 0; at < most; at++) if (a[at] !== b[at]) return a[at]! - b[at]!
  return aLength - bLength
}
