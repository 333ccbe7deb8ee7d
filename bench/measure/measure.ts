/** Measuring in turn: every contender once a round, and the middle of the rounds. */

/** How often each contender runs unless told otherwise. */
export const ROUNDS = 5

/** Runs each contender once a round, in turn (A B A B), and hands over the figures of each. */
export async function inTurn<Key extends string, Figure>(
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

/** The value below which a share of them lies; the nearest one that was measured (of an even number, the lower). */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** The median of one figure of each. */
export function medianOf<Figure>(figures: readonly Figure[], pick: (figure: Figure) => number): number {
  return median(figures.map(pick))
}
