/**
 * Numbers the distinct words of a corpus: a hash table over UTF-16 units, half as costly as a Map for millions of
 * words.
 */

const FIRST_SLOTS = 2 ** 16

export class WordNumbers {
  /** Pairs: the number of a word plus 1 (0 if the slot is free), and the hash of the word. */
  #slots = new Int32Array(2 * FIRST_SLOTS)
  /** The end of each word in the units. The next word starts there. */
  #ends = new Uint32Array(FIRST_SLOTS)
  #units = new Uint16Array(16 * FIRST_SLOTS)
  #size = 0

  /** The number of distinct words. */
  get size(): number {
    return this.#size
  }

  /** Returns the number of a word. A new word gets the next number, counted from 0. */
  numberOf(word: string): number {
    const hash = hashOf(word)
    const last = this.#slots.length / 2 - 1
    let slot = hash & last
    for (; this.#slots[2 * slot] !== 0; slot = (slot + 1) & last) {
      const number = this.#slots[2 * slot]! - 1
      if (this.#slots[2 * slot + 1] === hash && this.#equals(number, word)) return number
    }
    this.#slots[2 * slot] = this.#size + 1
    this.#slots[2 * slot + 1] = hash
    this.#append(word)
    if (2 * this.#size > last) this.#grow()
    return this.#size - 1
  }

  #equals(number: number, word: string): boolean {
    const start = number === 0 ? 0 : this.#ends[number - 1]!
    if (this.#ends[number]! - start !== word.length) return false
    for (let at = 0; at < word.length; at++) if (this.#units[start + at] !== word.charCodeAt(at)) return false
    return true
  }

  #append(word: string): void {
    const start = this.#size === 0 ? 0 : this.#ends[this.#size - 1]!
    if (this.#size === this.#ends.length) this.#ends = copyTo(new Uint32Array(2 * this.#size), this.#ends)
    if (start + word.length > this.#units.length)
      this.#units = copyTo(new Uint16Array(2 * this.#units.length), this.#units)
    for (let at = 0; at < word.length; at++) this.#units[start + at] = word.charCodeAt(at)
    this.#ends[this.#size++] = start + word.length
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Int32Array(2 * before.length)
    const last = before.length - 1
    for (let at = 0; at < before.length; at += 2) {
      if (before[at] === 0) continue
      let slot = before[at + 1]! & last
      while (this.#slots[2 * slot] !== 0) slot = (slot + 1) & last
      this.#slots.set(before.subarray(at, at + 2), 2 * slot)
    }
  }
}

function hashOf(word: string): number {
  let hash = word.length
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x5bd1e995)
  return hash ^ (hash >>> 15)
}

function copyTo<Numbers extends Uint32Array | Uint16Array>(larger: Numbers, numbers: Numbers): Numbers {
  larger.set(numbers)
  return larger
}
