/** Figures for metrics: read once for all that show them, and good for a while. */

/** `otherwise` counts for what cannot be read, so that it takes no other figure with it. */
export function remembered<Figures>(
  read: () => Promise<Figures>,
  milliseconds: number,
  otherwise: Figures,
): () => Promise<Figures> {
  let asked = Number.NEGATIVE_INFINITY
  let last: Promise<Figures> | null = null
  return () => {
    if (last === null || performance.now() - asked > milliseconds) {
      asked = performance.now()
      last = read().catch(() => otherwise)
    }
    return last
  }
}
