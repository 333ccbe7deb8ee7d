/** Bounds V8's young generation in a command that makes much short-lived data. */

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * Returns a function that the command calls now and then. Once the young generation has that many bytes, it grows no
 * more; V8 would double it again and again. This flag works at any time, `--max-semi-space-size` only from the start.
 */
export function youngGenerationBound(maxBytes: number): () => void {
  let isBounded = false
  return () => {
    if (isBounded || youngGenerationBytes() < maxBytes) return
    setFlagsFromString('--semi-space-growth-factor=1')
    isBounded = true
  }
}

function youngGenerationBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')!.space_size
}
