/**
 * Sorted parts: the labels of some names of one zone, each once, in the order of their hashes and then of their bytes.
 * A label is a length byte followed by its bytes. Pure.
 */

import { labelHash } from './label-hash.ts'

/** Maximum bytes of a part, because a set is packed part by part. */
export const MAX_PART_BYTES = 2 ** 29

/** The bits of a hash that differ within a part. The sort handles half of them at a time. */
const HASH_BITS = 24
const DIGIT_BITS = 12
const RADIX = 2 ** DIGIT_BITS

/** Sorts the labels of a part and removes duplicates. The same labels always give the same bytes. */
export function sortPart(bytes: Uint8Array, suffix: Uint8Array): { bytes: Uint8Array; count: number } {
  const { places, hashes } = sortByHash(bytes, suffix)
  const sorted = new Uint8Array(bytes.length)
  let [length, count] = [0, 0]
  const copy = (at: number): void => {
    const size = bytes[at]! + 1
    for (let place = 0; place < size; place++) sorted[length++] = bytes[at + place]!
    count++
  }
  for (let from = 0; from < places.length; ) {
    let to = from + 1
    while (to < places.length && hashes[to] === hashes[from]) to++
    if (to === from + 1) copy(places[from]!)
    else for (const at of distinctLabels(bytes, places.subarray(from, to))) copy(at)
    from = to
  }
  return { bytes: sorted.subarray(0, length), count }
}

/**
 * Returns the positions of labels in their bytes, and their hashes, by hash. A radix sort is several times as fast as a
 * comparison sort.
 */
function sortByHash(bytes: Uint8Array, suffix: Uint8Array): { places: Uint32Array; hashes: Uint32Array } {
  let count = 0
  for (let at = 0; at < bytes.length; at += bytes[at]! + 1) count++
  let [places, hashes] = [new Uint32Array(count), new Uint32Array(count)]
  for (let at = 0, number = 0; at < bytes.length; at += bytes[at]! + 1, number++) {
    places[number] = at
    hashes[number] = hashWithinPart(bytes, at, suffix)
  }
  let [nextPlaces, nextHashes] = [new Uint32Array(count), new Uint32Array(count)]
  for (let shift = 0; shift < HASH_BITS; shift += DIGIT_BITS) {
    const starts = bucketStarts(hashes, shift)
    for (let number = 0; number < count; number++) {
      const to = starts[(hashes[number]! >>> shift) % RADIX]!++
      nextPlaces[to] = places[number]!
      nextHashes[to] = hashes[number]!
    }
    ;[places, nextPlaces, hashes, nextHashes] = [nextPlaces, places, nextHashes, hashes]
  }
  return { places, hashes }
}

/** Returns where the entries of each digit start after the sort. */
function bucketStarts(hashes: Uint32Array, shift: number): Uint32Array {
  const starts = new Uint32Array(RADIX + 1)
  for (const hash of hashes) starts[((hash >>> shift) % RADIX) + 1]!++
  for (let digit = 1; digit < RADIX; digit++) starts[digit]! += starts[digit - 1]!
  return starts
}

/** Returns the positions of labels with one hash, each label once, in byte order. */
function distinctLabels(bytes: Uint8Array, places: Uint32Array): number[] {
  const sorted = Array.from(places).sort((a, b) => compareLabels(bytes, a, bytes, b))
  return sorted.filter((at, index) => index === 0 || compareLabels(bytes, sorted[index - 1]!, bytes, at) !== 0)
}

/** Called with a label: the `length` bytes from `from` on. */
export type OnLabel = (bytes: Uint8Array, from: number, length: number) => void

/** Reports labels that only one of two sorted parts of a zone contains, in order. */
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
          : isSameLabel(first, a, second, b)
            ? 0
            : compareInZone(first, a, second, b, suffix)
    if (order < 0) onFirst(first, a + 1, first[a]!)
    if (order > 0) onSecond(second, b + 1, second[b]!)
    if (order <= 0) a += first[a]! + 1
    if (order >= 0) b += second[b]! + 1
  }
}

function isSameLabel(first: Uint8Array, a: number, second: Uint8Array, b: number): boolean {
  for (let at = 0; at <= first[a]!; at++) if (first[a + at] !== second[b + at]) return false
  return true
}

function compareInZone(first: Uint8Array, a: number, second: Uint8Array, b: number, suffix: Uint8Array): number {
  const hashes = hashWithinPart(first, a, suffix) - hashWithinPart(second, b, suffix)
  return hashes !== 0 ? hashes : compareLabels(first, a, second, b)
}

/** Returns the hash of a label within its part. */
function hashWithinPart(bytes: Uint8Array, at: number, suffix: Uint8Array): number {
  return labelHash(bytes, at + 1, bytes[at]!, suffix) % 2 ** HASH_BITS
}

/** Returns a negative number, 0 or a positive number if the label at `a` is below, equal to or above the one at `b`. */
function compareLabels(first: Uint8Array, a: number, second: Uint8Array, b: number): number {
  const shorter = Math.min(first[a]!, second[b]!)
  for (let at = 1; at <= shorter; at++) {
    const difference = first[a + at]! - second[b + at]!
    if (difference !== 0) return difference
  }
  return first[a]! - second[b]!
}

/** Calls `onLabel` for each label of a part. */
export function eachLabel(bytes: Uint8Array, onLabel: OnLabel): void {
  for (let at = 0; at < bytes.length; at += bytes[at]! + 1) onLabel(bytes, at + 1, bytes[at]!)
}
