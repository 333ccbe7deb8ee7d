/** Interleaved measurements: every contender runs once per round, and the median of the rounds counts. */

/** The default number of rounds. */
export const DEFAULT_ROUNDS = 5

/** Runs each contender once per round, in turn (A B A B), and returns the figures of each. */
export async function runInterleaved<Key extends string, Figure>(
  rounds: number,
  contenders: Readonly<Record<Key, () => Promise<Figure>>>,
): Promise<Record<Key, Figure[]>> {
  const keys = Object.keys(contenders) as Key[]
  const figures = Object.fromEntries(keys.map((key) => [key, []])) as unknown as Record<Key, Figure[]>
  for (let round = 0; round < rounds; round++) {
    for (const key of keys) figures[key].push(await contenders[key]())
  }
  return figures
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/**
 * Returns the smallest value that is at least as large as a share of all values (of an even number, the lower median).
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** Returns the median of one number of each run. */
export function medianOf<Figure>(figures: readonly Figure[], pick: (figure: Figure) => number): number {
  return median(figures.map(pick))
}
