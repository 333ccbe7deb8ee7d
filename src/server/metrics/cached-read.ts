/** Figures for metrics: read once for all that show them, and good for a while. */

/** `otherwise` counts for what cannot be read, so that it takes no other figure with it. */
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
