/** The pulse of a store: whether it gives what calls ask of it, and its clock, which counts for this process too. */

import type { Store } from '../../store/port/store.ts'
import type { Instant } from '../../values/time.ts'

export type StoreMonitor = {
  /** Whether the store gave what calls ask of it within the last seconds. */
  isHealthy(): boolean
  /** The store's clock, in whole Unix seconds, without asking it. */
  now(): Instant
  close(): void
}

/** Milliseconds between two beats. */
const PROBE_INTERVAL_MS = 1_000
/** Milliseconds without an answer after which the store counts as gone; where it refuses, it does at once. */
const STORE_TIMEOUT_MS = 3_000
/** Seconds that two clocks may seem apart because they are read in whole seconds. */
const CLOCK_ROUNDING_SECONDS = 1

/** Feels it once, and then every second. `onChange` hears what hinders from now on, and null once nothing does. Throws where the first time fails. */
export async function monitorStore(
  { now, probe }: Pick<Store, 'now' | 'probe'>,
  onHealthChange: (hindrance: unknown) => void = () => {},
): Promise<StoreMonitor> {
  const machine = (): Instant => Math.floor(Date.now() / 1000)
  let ahead = 0
  let felt = 0
  let isAsking = false
  let isHindered = false
  const ask = async (): Promise<void> => {
    const difference = (await now()) - machine()
    ahead = Math.abs(difference) <= CLOCK_ROUNDING_SECONDS ? 0 : difference
    await probe()
    felt = performance.now()
  }
  const recordOutcome = (hindrance: unknown): void => {
    isAsking = false
    if (hindrance !== null) felt = Number.NEGATIVE_INFINITY
    if (isHindered === (hindrance !== null)) return
    isHindered = hindrance !== null
    onHealthChange(hindrance)
  }
  await ask()
  const timer = setInterval(() => {
    if (isAsking) return
    isAsking = true
    ask().then(() => recordOutcome(null), recordOutcome)
  }, PROBE_INTERVAL_MS).unref()
  return {
    isHealthy: () => performance.now() - felt < STORE_TIMEOUT_MS,
    now: () => machine() + ahead,
    close: () => clearInterval(timer),
  }
}
