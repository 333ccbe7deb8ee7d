/** Computes the values of column `part` that Citus spreads evenly over shards. Run it to print PART_VALUES. */

import { argv } from 'node:process'

/** The largest number of shards over which the values are spread evenly, and how many values there are. */
export const PART_COUNT = 256
/** The hash is a signed 32-bit integer. */
const HASHES = 2 ** 32
const MIN_HASH = -(2 ** 31)
/** PostgreSQL starts the three words of the hash of a 32-bit value with this. */
const INITIAL_WORD = 0x9e3779b9 + 4 + 3923095

/**
 * The hash of a smallint as PostgreSQL's function hashint2 computes it: the final mix of Bob Jenkins' lookup3
 * (https://burtleburtle.net/bob/c/lookup3.c, `final`) over the value as one 32-bit word.
 */
export function hashOfSmallint(value: number): number {
  let [a, b, c] = [(INITIAL_WORD + value) | 0, INITIAL_WORD | 0, INITIAL_WORD | 0]
  c = ((c ^ b) - rotate(b, 14)) | 0
  a = ((a ^ c) - rotate(c, 11)) | 0
  b = ((b ^ a) - rotate(a, 25)) | 0
  c = ((c ^ b) - rotate(b, 16)) | 0
  a = ((a ^ c) - rotate(c, 4)) | 0
  b = ((b ^ a) - rotate(a, 14)) | 0
  return ((c ^ b) - rotate(b, 24)) | 0
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}

/** The number of the shard that has a hash. Citus cuts the range of hashes into equal intervals, the last has the rest. */
export function shardOfHash(hash: number, shards: number): number {
  return Math.min(shards - 1, Math.floor((hash - MIN_HASH) / Math.floor(HASHES / shards)))
}

/** The smallest value for each of 256 shards, in ascending order. */
export function computePartValues(): number[] {
  const values = new Map<number, number>()
  for (let value = 0; values.size < PART_COUNT; value++) {
    const shard = shardOfHash(hashOfSmallint(value), PART_COUNT)
    if (!values.has(shard)) values.set(shard, value)
  }
  return [...values.values()]
}

if (argv[1] === import.meta.filename) console.log(computePartValues().join(', '))
