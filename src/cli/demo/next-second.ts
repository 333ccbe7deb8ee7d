/** Waiting for the next second: what happens in the same one counts as no newer. */

import type { Instant } from '../../values/time.ts'

const currentSecond = (): Instant => Math.floor(Date.now() / 1000)

/** Resolves when this second is over. */
export async function nextSecond(): Promise<void> {
  const second = currentSecond()
  while (currentSecond() <= second) await new Promise((resolve) => setTimeout(resolve, 50))
}
