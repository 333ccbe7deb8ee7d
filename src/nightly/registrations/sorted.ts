/**
 * Sorted parts: the labels of some names of one zone, each once, in the order of their hashes, and of their bytes where these
 * are equal. A label is a byte that says its length, and its bytes. Pure.
 */

import { hashOf } from './slots.ts'

/** What lies within a part is found by its lower 24 bits of hash, and its place in the bytes: 53 bits together. */
const HASH = 2 ** 24
const PLACE = 2 ** 29

/** A part may have no more bytes. */
export const PART_BYTES = PLACE - 1

/** Sorts the labels of a part, in whatever order they lie and however often; the same labels give the same bytes. */
export function sortPart(bytes: Uint8Array, suffix: Uint8Array): { bytes: Uint8Array; count: number } {
  const keys = keysOf(bytes, suffix)
  const sorted = new Uint8Array(bytes.length)
  let [length, count] = [0, 0]
  const copy = (at: number): void => {
    const size = bytes[at]! + 1
    for (let place = 0; place < size; place++) sorted[length++] = bytes[at + place]!
    count++
  }
  for (let from = 0; from < keys.length; ) {
    const hash = Math.floor(keys[from]! / PLACE)
    let to = from + 1
    while (to < keys.length && Math.floor(keys[to]! / PLACE) === hash) to++
    if (to === from + 1) copy(keys[from]! % PLACE)
    else for (const at of distinct(bytes, keys.subarray(from, to))) copy(at)
    from = to
  }
  return { bytes: sorted.subarray(0, length), count }
}

/** A key for each label, ascending. */
function keysOf(bytes: Uint8Array, suffix: Uint8Array): Float64Array {
  let count = 0
  for (let at = 0; at < bytes.length; at += bytes[at]! + 1) count++
  const keys = new Float64Array(count)
  for (let at = 0, place = 0; at < bytes.length; at += bytes[at]! + 1)
    keys[place++] = hashAt(bytes, at, suffix) * PLACE + at
  return keys.sort()
}

/** The places of labels of one hash, each label once, bytewise. */
function distinct(bytes: Uint8Array, keys: Float64Array): number[] {
  const places = Array.from(keys, (key) => key % PLACE)
  places.sort((a, b) => compareLabels(bytes, a, bytes, b))
  return places.filter((at, index) => index === 0 || compareLabels(bytes, places[index - 1]!, bytes, at) !== 0)
}

/** Told of a label: it is the `length` bytes from `from` on. */
export type OnLabel = (bytes: Uint8Array, from: number, length: number) => void

/** Tells what is only in the one and what is only in the other of two sorted parts of one zone, both in order. */
export function comparePart(
  first: Uint8Array,
  second: Uint8Array,
  suffix: Uint8Array,
  { onFirst, onSecond }: { onFirst: OnLabel; onSecond: OnLabel },
): void {
  let [a, b] = [0, 0]
  while (a < first.length || b < second.length) {
    const order =
      a === first.length
        ? 1
        : b === second.length
          ? -1
          : isSame(first, a, second, b)
            ? 0
            : inOrder(first, a, second, b, suffix)
    if (order < 0) onFirst(first, a + 1, first[a]!)
    if (order > 0) onSecond(second, b + 1, second[b]!)
    if (order <= 0) a += first[a]! + 1
    if (order >= 0) b += second[b]! + 1
  }
}

function isSame(first: Uint8Array, a: number, second: Uint8Array, b: number): boolean {
  for (let at = 0; at <= first[a]!; at++) if (first[a + at] !== second[b + at]) return false
  return true
}

function inOrder(first: Uint8Array, a: number, second: Uint8Array, b: number, suffix: Uint8Array): number {
  const hashes = hashAt(first, a, suffix) - hashAt(second, b, suffix)
  return hashes !== 0 ? hashes : compareLabels(first, a, second, b)
}

/** What the hash of a label is within its part. */
function hashAt(bytes: Uint8Array, at: number, suffix: Uint8Array): number {
  return hashOf(bytes, at + 1, bytes[at]!, suffix) % HASH
}

/** Negative, 0 or positive as the label at `a` comes before, equals or comes after that at `b`. */
function compareLabels(first: Uint8Array, a: number, second: Uint8Array, b: number): number {
  const shorter = Math.min(first[a]!, second[b]!)
  for (let at = 1; at <= shorter; at++) {
    const difference = first[a + at]! - second[b + at]!
    if (difference !== 0) return difference
  }
  return first[a]! - second[b]!
}

/** Tells each label of a part. */
export function eachLabel(bytes: Uint8Array, onLabel: OnLabel): void {
  for (let at = 0; at < bytes.length; at += bytes[at]! + 1) onLabel(bytes, at + 1, bytes[at]!)
}
