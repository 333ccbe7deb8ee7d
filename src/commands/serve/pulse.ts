/** The pulse of a store: whether it answers, and its clock, which counts for this process too. */

import type { Store } from '../../store/store.ts'
import type { Instant } from '../../words/time.ts'

export type Pulse = {
  /** Whether the store answered within the last seconds. */
  isFelt(): boolean
  /** The store's clock, in whole Unix seconds, without asking it. */
  now(): Instant
  close(): void
}

/** Milliseconds between two beats. */
const BEAT = 1_000
/** Milliseconds without an answer after which the store counts as gone. */
const SILENCE = 3_000
/** Seconds that two clocks may seem apart because they are read in whole seconds. */
const ROUNDING = 1

/** Feels it once, and then every second. Throws where the first time fails. */
export async function feelPulse({ now }: Pick<Store, 'now'>): Promise<Pulse> {
  const machine = (): Instant => Math.floor(Date.now() / 1000)
  let ahead = 0
  let felt = 0
  let isAsking = false
  const ask = async (): Promise<void> => {
    if (isAsking) return
    isAsking = true
    try {
      const difference = (await now()) - machine()
      felt = performance.now()
      ahead = Math.abs(difference) <= ROUNDING ? 0 : difference
    } finally {
      isAsking = false
    }
  }
  await ask()
  const timer = setInterval(() => void ask().catch(() => {}), BEAT).unref()
  return {
    isFelt: () => performance.now() - felt < SILENCE,
    now: () => machine() + ahead,
    close: () => clearInterval(timer),
  }
}
