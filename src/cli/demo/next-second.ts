/** Waits for the next second: an observation of the same second does not count as newer. */

import type { Instant } from '../../values/time.ts'

const currentSecond = (): Instant => Math.floor(Date.now() / 1000)

/** Resolves when the next second begins. */
export async function nextSecond(): Promise<void> {
  const second = currentSecond()
  while (currentSecond() <= second) await new Promise((resolve) => setTimeout(resolve, 50))
}
