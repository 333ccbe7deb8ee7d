/** Monitors a store: probes it every second, and reads its clock, which this process uses too. */

import { SYSTEM_TIMERS, type Timers } from '../../api/http/timers.ts'
import type { Store } from '../../store/port/store.ts'
import type { Instant } from '../../values/time.ts'
import { ClockCheck, type ClockReport } from './clock-check.ts'

export type StoreMonitor = {
  /** Whether a probe succeeded within STORE_TIMEOUT_MS. */
  isHealthy(): boolean
  /** The first of both that is wrong: the store, or the clock of this machine compared with the store's. */
  readiness(): 'waiting for the store' | ClockCheck['readiness']
  clock: Pick<ClockCheck, 'ahead' | 'fault'>
  /** The store's clock in whole Unix seconds, without a query. */
  now(): Instant
  close(): void
}

/** The clock of this machine in whole Unix seconds, its monotonic clock, and its timers. */
export type MachineClock = Pick<Timers, 'every'> & { now(): Instant; monotonicMs(): number }

const MACHINE_CLOCK: MachineClock = {
  every: SYSTEM_TIMERS.every,
  now: () => Math.floor(Date.now() / 1000),
  monotonicMs: () => performance.now(),
}

/** Milliseconds between two probes. */
const PROBE_INTERVAL_MS = 1_000
/** Milliseconds without an answer after which the store is unhealthy. After an error it is unhealthy at once. */
const STORE_TIMEOUT_MS = 3_000
/** The difference, in seconds, that two equal clocks may show because of rounding. */
const CLOCK_ROUNDING_SECONDS = 1
/** Milliseconds after which a reading of the store's clock is out of date when it arrives, so it is ignored. */
const MAX_READING_MS = 1_000

/**
 * Probes the store once, and then every second. Calls `onHealthChange` with the error when probes start to fail, and
 * with null when they succeed again. Calls `onClockReport` if the clocks differ too much. Throws if the first probe
 * fails.
 */
export async function monitorStore(
  { now, probe }: Pick<Store, 'now' | 'probe'>,
  onHealthChange: (error: unknown) => void = () => {},
  onClockReport: (report: ClockReport) => void = () => {},
  machine: MachineClock = MACHINE_CLOCK,
): Promise<StoreMonitor> {
  const clock = new ClockCheck(onClockReport)
  const storeClock = followClock(now, clock, machine)
  let lastSuccessAt = 0
  let isProbing = false
  let isFailing = false
  const probeStore = async (isFirst = false): Promise<void> => {
    await storeClock.read(isFirst)
    await probe()
    lastSuccessAt = machine.monotonicMs()
  }
  const recordOutcome = (error: unknown): void => {
    isProbing = false
    if (error !== null) lastSuccessAt = Number.NEGATIVE_INFINITY
    if (isFailing === (error !== null)) return
    isFailing = error !== null
    onHealthChange(error)
  }
  await probeStore(true)
  const close = machine.every(PROBE_INTERVAL_MS, () => {
    if (isProbing) return
    isProbing = true
    probeStore().then(() => recordOutcome(null), recordOutcome)
  })
  const isHealthy = (): boolean => machine.monotonicMs() - lastSuccessAt < STORE_TIMEOUT_MS
  return {
    isHealthy,
    readiness: () => (isHealthy() ? clock.readiness : 'waiting for the store'),
    clock,
    now: () => machine.now() + storeClock.offset(),
    close,
  }
}

/** Reads the store's clock, and reports the difference to `check`. `offset`: seconds to add to the machine's clock. */
function followClock(now: Store['now'], check: ClockCheck, machine: MachineClock) {
  let offset = 0
  return {
    offset: () => offset,
    /** Ignores a late reading, unless it is the first one. */
    async read(isFirst: boolean): Promise<void> {
      const sentAt = machine.monotonicMs()
      const storeTime = await now()
      if (machine.monotonicMs() - sentAt > MAX_READING_MS && !isFirst) return
      const ahead = machine.now() - storeTime
      offset = Math.abs(ahead) <= CLOCK_ROUNDING_SECONDS ? 0 : -ahead
      check.record(ahead)
    },
  }
}
