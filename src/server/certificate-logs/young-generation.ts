/** Bounds V8's young generation in a process that makes much short-lived data. */

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** V8 doubles the young generation while much of it is in use, and shrinks it in a process that does little. */
const GROWTH_FACTOR = 2

/**
 * Returns a function to call while the process works. It stops the growth while the young generation has that many
 * bytes. Node reads its own limit, `--max-semi-space-size`, only when a process starts.
 */
export function youngGenerationBound(maxBytes: number): () => void {
  let factor: number | null = null
  return () => {
    const wanted = youngGenerationBytes() < maxBytes ? GROWTH_FACTOR : 1
    if (wanted !== factor) setFlagsFromString(`--semi-space-growth-factor=${wanted}`)
    factor = wanted
  }
}

function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')!.space_size
}
