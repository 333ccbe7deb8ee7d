/** What one crawler counts of itself while it runs, and the report that it makes of that for the others. */

import { PROBE_KINDS, type ProbeKind } from '../queue/kind-selector.ts'

/** Why a crawl pauses; a bounded set, as a metric's label has to be. */
export const PAUSE_REASONS = ['self_check', 'anomaly', 'clock', 'store', 'disk'] as const
export type CrawlPause = {
  /**
   * `self_check`: control questions are not answered as they must be. `anomaly`: the outcomes differ from those of the days before.
   * `clock`: this machine's clock is ahead. `store`: the store fails. `disk`: its disk has too little room.
   */
  reason: (typeof PAUSE_REASONS)[number]
  /** A sentence without names and addresses. */
  message: string
}

/** How a visit ended. `notProbed`: not probed, for a local reason; `failed`: a fault of the program. */
export const PROBE_OUTCOMES = ['ok', 'noWebsite', 'nxdomain', 'servfail', 'notProbed', 'failed'] as const
export type ProbeOutcome = (typeof PROBE_OUTCOMES)[number]

/** Upper bounds, in seconds, of what passes between the time a name is due and its visit; what is later is counted last. */
export const LAG_BOUNDS_SECONDS = [
  10, 30, 60, 300, 900, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 1_209_600, 2_592_000,
] as const

/** A crawler's own words to whoever asks the store how the crawl goes. `rate`: visits a second in the last minute. */
export type CrawlerReport = {
  rate: number
  probes: number
  lags: readonly number[]
  disagreements: number
  pause: (CrawlPause & { seconds: number }) | null
}

/** Milliseconds of which the rate is told, and in how many parts they are counted. */
const RATE_WINDOW_MS = 60_000
const RATE_WINDOW_PARTS = 12
/** After so many lags the older half of them counts no more. */
const MAX_LAG_SAMPLES = 20_000

export class CrawlStats {
  readonly probes: Record<ProbeKind, Record<ProbeOutcome, number>> = zeroByKind()
  readonly batches = { saved: 0, discarded: 0 }
  /** Visits made twice at once, and those of them that saw something else. */
  readonly repeated = { made: 0, differed: 0 }
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

  /** `seconds`: how long after it was due a name was visited. */
  recordLag(seconds: number): void {
    const place = LAG_BOUNDS_SECONDS.findIndex((bound) => seconds <= bound)
    this.#lags[place < 0 ? LAG_BOUNDS_SECONDS.length : place]!++
    if (this.#lags.reduce((sum, count) => sum + count) > MAX_LAG_SAMPLES)
      this.#lags = this.#lags.map((count) => count >> 1)
  }

  /** It pauses, unless it does already; since when is told from the first time on. `now` in milliseconds. */
  pauseFor(reason: CrawlPause['reason'], message: string, now: number): void {
    this.#pause = { reason, message, since: this.#pause?.since ?? now }
  }

  resume(): void {
    this.#hasPassedSelfCheck = true
    this.#pause = null
  }

  /** Why nothing is visited; null while something may be. */
  get notReadyReason(): string | null {
    return this.#pause?.message ?? (this.#hasPassedSelfCheck ? null : 'no control question was answered yet')
  }

  get pause(): CrawlPause | null {
    return this.#pause
  }

  get lags(): readonly number[] {
    return this.#lags
  }

  /** Visits a second in the last minute; `now` in milliseconds of the clock that is never set. */
  rate(now: number): number {
    const first = Math.floor((now - RATE_WINDOW_MS) / (RATE_WINDOW_MS / RATE_WINDOW_PARTS))
    const counted = this.#parts.filter(({ part }) => part > first)
    return counted.reduce((sum, { probes: visits }) => sum + visits, 0) / (RATE_WINDOW_MS / 1000)
  }

  report(now: number): CrawlerReport {
    const probes = Object.values(this.probes).flatMap((ends) => Object.values(ends))
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
    Object.fromEntries(PROBE_OUTCOMES.map((end) => [end, 0])) as Record<ProbeOutcome, number>
  return Object.fromEntries(PROBE_KINDS.map((kind) => [kind, none()])) as Record<
    ProbeKind,
    Record<ProbeOutcome, number>
  >
}
