/** The pulse of a store: whether it gives what calls ask of it, and its clock, which counts for this process too. */

import type { Store } from '../../store/store.ts'
import type { Instant } from '../../words/time.ts'

export type Pulse = {
  /** Whether the store gave what calls ask of it within the last seconds. */
  isFelt(): boolean
  /** The store's clock, in whole Unix seconds, without asking it. */
  now(): Instant
  close(): void
}

/** Milliseconds between two beats. */
const BEAT = 1_000
/** Milliseconds without an answer after which the store counts as gone; where it refuses, it does at once. */
const SILENCE = 3_000
/** Seconds that two clocks may seem apart because they are read in whole seconds. */
const ROUNDING = 1

/** Feels it once, and then every second. `onChange` hears what hinders from now on, and null once nothing does. Throws where the first time fails. */
export async function feelPulse(
  { now, probe }: Pick<Store, 'now' | 'probe'>,
  onChange: (hindrance: unknown) => void = () => {},
): Promise<Pulse> {
  const machine = (): Instant => Math.floor(Date.now() / 1000)
  let ahead = 0
  let felt = 0
  let isAsking = false
  let isHindered = false
  const ask = async (): Promise<void> => {
    const difference = (await now()) - machine()
    ahead = Math.abs(difference) <= ROUNDING ? 0 : difference
    await probe()
    felt = performance.now()
  }
  const tell = (hindrance: unknown): void => {
    isAsking = false
    if (hindrance !== null) felt = Number.NEGATIVE_INFINITY
    if (isHindered === (hindrance !== null)) return
    isHindered = hindrance !== null
    onChange(hindrance)
  }
  await ask()
  const timer = setInterval(() => {
    if (isAsking) return
    isAsking = true
    ask().then(() => tell(null), tell)
  }, BEAT).unref()
  return {
    isFelt: () => performance.now() - felt < SILENCE,
    now: () => machine() + ahead,
    close: () => clearInterval(timer),
  }
}
