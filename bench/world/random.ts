/** Seeded chance: the same seed and place give the same numbers on every machine. */

/** Answers numbers from 0 (included) to 1, one after another. */
export type Dice = () => number

/** Dice of one place in the world: mulberry32, begun from a mix of the three. */
export function diceOf(seed: number, index: number, salt: number): Dice {
  let state = mix(Math.imul(seed, 0x9e3779b1) ^ mix(index ^ mix(salt)))
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296
  }
}

/** A 32-bit number from another, each from one: the finalizer of MurmurHash3. */
export function mix(value: number): number {
  let hash = value | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** A whole number below `end`. */
export function below(dice: Dice, end: number): number {
  return Math.floor(dice() * end)
}

/** A whole number below `end` of which small ones are the likelier, as 1/n: how names crowd on addresses. */
export function crowded(dice: Dice, end: number): number {
  return Math.min(end - 1, Math.floor(end ** dice()) - 1)
}

export function oneOf<Value>(dice: Dice, values: readonly Value[]): Value {
  return values[below(dice, values.length)]!
}
