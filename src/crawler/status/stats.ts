/** The statistics of one crawler since its start, and its report for the other crawlers. */

import { PROBE_KINDS, type ProbeKind } from '../queue/kind-selector.ts'

/** Why a crawl pauses. A bounded set, as metric labels require. */
export const PAUSE_REASONS = ['self_check', 'anomaly', 'clock', 'store', 'disk'] as const
export type CrawlPause = {
  /**
   * `self_check`: the self-check failed. `anomaly`: the outcomes differ from those of the last days. `clock`: this
   * machine's clock is ahead. `store`: the store failed. `disk`: its disk lacks free space.
   */
  reason: (typeof PAUSE_REASONS)[number]
  /** A sentence without names and addresses. */
  message: string
}

/** The outcome of a probe. `notProbed`: not probed, for a local reason; `failed`: a program error. */
const PROBE_OUTCOMES = ['ok', 'noWebsite', 'nxdomain', 'servfail', 'notProbed', 'failed'] as const
export type ProbeOutcome = (typeof PROBE_OUTCOMES)[number]

/** The upper bounds of lag buckets in seconds. The last bucket counts longer lags. */
export const LAG_BOUNDS_SECONDS = [
  10, 30, 60, 300, 900, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 1_209_600, 2_592_000,
] as const

/** The report of a crawler in the store. `rate`: probes per second in the last minute. */
export type CrawlerReport = {
  rate: number
  probes: number
  lags: readonly number[]
  disagreements: number
  pause: (CrawlPause & { seconds: number }) | null
}

/** The window of the rate in milliseconds, and its number of parts. */
const RATE_WINDOW_MS = 60_000
const RATE_WINDOW_PARTS = 12
/** After this many lags, all counts are halved. */
const MAX_LAG_SAMPLES = 20_000

export class CrawlStats {
  readonly probes: Record<ProbeKind, Record<ProbeOutcome, number>> = zeroByKind()
  readonly batches = { saved: 0, discarded: 0 }
  /** Probes that ran twice at once, and those with different results. */
  readonly repeated = { total: 0, differed: 0 }
  #hasPassedSelfCheck = false
  #pause: (CrawlPause & { since: number }) | null = null
  #lags: number[] = LAG_BOUNDS_SECONDS.map(() => 0).concat(0)
  #parts: { part: number; probes: number }[] = []

  countProbe(kind: ProbeKind, outcome: ProbeOutcome, now: number): void {
    this.probes[kind][outcome]++
    const part = Math.floor(now / (RATE_WINDOW_MS / RATE_WINDOW_PARTS))
    if (this.#parts.at(-1)?.part !== part) this.#parts.push({ part, probes: 0 })
    if (this.#parts.length > RATE_WINDOW_PARTS + 1) this.#parts.shift()
    this.#parts.at(-1)!.probes++
  }

  /** `seconds`: from the due time of a name to its probe. */
  recordLag(seconds: number): void {
    const bucket = LAG_BOUNDS_SECONDS.findIndex((bound) => seconds <= bound)
    this.#lags[bucket < 0 ? LAG_BOUNDS_SECONDS.length : bucket]!++
    if (this.#lags.reduce((sum, count) => sum + count) > MAX_LAG_SAMPLES)
      this.#lags = this.#lags.map((count) => count >> 1)
  }

  /** Records a pause. Its start stays that of the first reason. `now`: milliseconds. */
  pauseFor(reason: CrawlPause['reason'], message: string, now: number): void {
    this.#pause = { reason, message, since: this.#pause?.since ?? now }
  }

  resume(): void {
    this.#hasPassedSelfCheck = true
    this.#pause = null
  }

  /** Why no probe may start. Null if probes may start. */
  get notReadyReason(): string | null {
    return this.#pause?.message ?? (this.#hasPassedSelfCheck ? null : 'no self-check has passed yet')
  }

  get pause(): CrawlPause | null {
    return this.#pause
  }

  get lags(): readonly number[] {
    return this.#lags
  }

  /** Probes per second in the last minute. `now`: milliseconds of the monotonic clock. */
  rate(now: number): number {
    const first = Math.floor((now - RATE_WINDOW_MS) / (RATE_WINDOW_MS / RATE_WINDOW_PARTS))
    const counted = this.#parts.filter(({ part }) => part > first)
    return counted.reduce((sum, { probes }) => sum + probes, 0) / (RATE_WINDOW_MS / 1000)
  }

  report(now: number): CrawlerReport {
    const probes = Object.values(this.probes).flatMap((outcomes) => Object.values(outcomes))
    return {
      rate: this.rate(now),
      probes: probes.reduce((sum, count) => sum + count),
      lags: this.#lags,
      disagreements: this.repeated.differed,
      pause: this.#pause && {
        reason: this.#pause.reason,
        message: this.#pause.message,
        seconds: Math.round((now - this.#pause.since) / 1000),
      },
    }
  }
}

function zeroByKind(): Record<ProbeKind, Record<ProbeOutcome, number>> {
  const none = (): Record<ProbeOutcome, number> =>
    Object.fromEntries(PROBE_OUTCOMES.map((outcome) => [outcome, 0])) as Record<ProbeOutcome, number>
  return Object.fromEntries(PROBE_KINDS.map((kind) => [kind, none()])) as Record<
    ProbeKind,
    Record<ProbeOutcome, number>
  >
}
