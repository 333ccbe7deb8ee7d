/** Reads figures for metrics, at most once in a while. */

/** Returns a function that reads at most once per `milliseconds`. If the read fails, it returns `fallback`. */
export function cachedRead<Figures>(
  read: () => Promise<Figures>,
  milliseconds: number,
  fallback: Figures,
): () => Promise<Figures> {
  let readAt = Number.NEGATIVE_INFINITY
  let last: Promise<Figures> | null = null
  return () => {
    if (last === null || performance.now() - readAt > milliseconds) {
      readAt = performance.now()
      last = read().catch(() => fallback)
    }
    return last
  }
}
