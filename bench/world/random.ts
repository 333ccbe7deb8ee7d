/** Random numbers from a seed: the same seed, index and salt give the same numbers on every machine. */

/** Returns the next number from 0 (inclusive) to 1. */
export type RandomSource = () => number

/** Returns a random source for one index of the world: mulberry32, started from a mix of the three parameters. */
export function seededRandom(seed: number, index: number, salt: number): RandomSource {
  let state = mixBits(Math.imul(seed, 0x9e3779b1) ^ mixBits(index ^ mixBits(salt)))
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296
  }
}

/** Maps 32-bit numbers to 32-bit numbers, one to one: the finalizer of MurmurHash3. */
export function mixBits(value: number): number {
  let hash = value | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** Returns a whole number below `end`. */
export function randomInt(random: RandomSource, end: number): number {
  return Math.floor(random() * end)
}

/** Returns a whole number below `end` with a probability of about 1/n, as names share addresses. */
export function randomSkewed(random: RandomSource, end: number): number {
  return Math.min(end - 1, Math.floor(end ** random()) - 1)
}

export function randomChoice<Value>(random: RandomSource, values: readonly Value[]): Value {
  return values[randomInt(random, values.length)]!
}
