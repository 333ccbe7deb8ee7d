/** The 50th, 95th and 99th percentile of values in a histogram. Pure. */

export type Quantiles = { p50: number; p95: number; p99: number }

/**
 * `bounds`: ascending and inclusive; `counts` has one more entry, for values above the last bound. Values count as
 * evenly distributed between two bounds. Values above the last bound count as equal to it. Returns null if there are
 * none.
 */
export function quantiles(bounds: readonly number[], counts: readonly number[]): Quantiles | null {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all <= 0) return null
  const at = (share: number): number => valueAt(share * all, bounds, counts)
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

function valueAt(rank: number, bounds: readonly number[], counts: readonly number[]): number {
  let below = 0
  for (const [bucket, bound] of bounds.entries()) {
    const count = counts[bucket]!
    const from = bounds[bucket - 1] ?? 0
    if (count > 0 && below + count >= rank) return from + ((bound - from) * (rank - below)) / count
    below += count
  }
  return bounds.at(-1)!
}
