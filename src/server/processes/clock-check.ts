/** Compares the clock of this machine with that of the store, and reports when the difference becomes too large. */

import type { Logger } from 'pino'

/** Differences above this, in seconds, are reported. Clocks that are synchronized differ by milliseconds. */
const WARNING_SECONDS = 2
/** Above this difference, in seconds, the machine is not ready. */
const MAX_DIFFERENCE_SECONDS = 30

type ClockLevel = 'close' | 'warning' | 'notReady'

/** `message` is null when the clocks agree again. */
export type ClockReport = { level: ClockLevel; message: string | null }

export class ClockCheck {
  readonly #onReport: (report: ClockReport) => void
  #level: ClockLevel = 'close'
  /** Seconds by which the clock of this machine is ahead of the store's, at the last reading. */
  ahead = 0

  /** `onReport` is called when the level changes. */
  constructor(onReport: (report: ClockReport) => void) {
    this.#onReport = onReport
  }

  /** Why this machine is not ready; null if its clock is close enough. */
  get fault(): string | null {
    return this.#level === 'notReady' ? this.#message : null
  }

  get readiness(): 'ok' | 'the clock differs from that of the store' {
    return this.fault === null ? 'ok' : 'the clock differs from that of the store'
  }

  /** Records a reading of both clocks. */
  record(ahead: number): void {
    this.ahead = ahead
    const difference = Math.abs(ahead)
    const level = difference > MAX_DIFFERENCE_SECONDS ? 'notReady' : difference > WARNING_SECONDS ? 'warning' : 'close'
    if (level === this.#level) return
    this.#level = level
    this.#onReport({ level, message: level === 'close' ? null : this.#message })
  }

  get #message(): string {
    const direction = this.ahead > 0 ? 'ahead of' : 'behind'
    return `the clock of this machine is ${Math.abs(this.ahead)} seconds ${direction} that of the store: synchronize both by NTP`
  }
}

/** Logs that the clocks differ too much, or agree again. */
export function logClock(log: Pick<Logger, 'warn' | 'error'>, { level, message }: ClockReport): void {
  if (level === 'notReady') log.error(`not ready: ${message}`)
  else log.warn(message ?? 'the clock of this machine agrees with that of the store again')
}
