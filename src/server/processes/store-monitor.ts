/** Monitors a store: probes it every second, and reads its clock, which this process uses too. */

import type { Store } from '../../store/port/store.ts'
import type { Instant } from '../../values/time.ts'
import { ClockCheck, type ClockReport } from './clock-check.ts'

export type StoreMonitor = {
  /** Whether a probe succeeded within STORE_TIMEOUT_MS. */
  isHealthy(): boolean
  /** Whether the store is healthy and the clock of this machine is close enough to the store's. */
  isReady(): boolean
  clock: Pick<ClockCheck, 'ahead' | 'fault'>
  /** The store's clock in whole Unix seconds, without a query. */
  now(): Instant
  close(): void
}

/** Milliseconds between two probes. */
const PROBE_INTERVAL_MS = 1_000
/** Milliseconds without an answer after which the store is unhealthy. After an error it is unhealthy at once. */
const STORE_TIMEOUT_MS = 3_000
/** The difference, in seconds, that two equal clocks may show because of rounding. */
const CLOCK_ROUNDING_SECONDS = 1

/**
 * Probes the store once, and then every second. Calls `onHealthChange` with the error when probes start to fail, and
 * with null when they succeed again. Calls `onClockReport` if the clocks differ too much. Throws if the first probe
 * fails.
 */
export async function monitorStore(
  { now, probe }: Pick<Store, 'now' | 'probe'>,
  onHealthChange: (error: unknown) => void = () => {},
  onClockReport: (report: ClockReport) => void = () => {},
): Promise<StoreMonitor> {
  const localTime = (): Instant => Math.floor(Date.now() / 1000)
  const clock = new ClockCheck(onClockReport)
  let clockOffset = 0
  let lastSuccessAt = 0
  let isProbing = false
  let isFailing = false
  const probeStore = async (): Promise<void> => {
    const difference = (await now()) - localTime()
    clockOffset = Math.abs(difference) <= CLOCK_ROUNDING_SECONDS ? 0 : difference
    clock.record(-difference)
    await probe()
    lastSuccessAt = performance.now()
  }
  const recordOutcome = (error: unknown): void => {
    isProbing = false
    if (error !== null) lastSuccessAt = Number.NEGATIVE_INFINITY
    if (isFailing === (error !== null)) return
    isFailing = error !== null
    onHealthChange(error)
  }
  await probeStore()
  const timer = setInterval(() => {
    if (isProbing) return
    isProbing = true
    probeStore().then(() => recordOutcome(null), recordOutcome)
  }, PROBE_INTERVAL_MS).unref()
  const isHealthy = (): boolean => performance.now() - lastSuccessAt < STORE_TIMEOUT_MS
  return {
    isHealthy,
    isReady: () => isHealthy() && clock.fault === null,
    clock,
    now: () => localTime() + clockOffset,
    close: () => clearInterval(timer),
  }
}
