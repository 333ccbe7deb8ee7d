/** What one crawler counts of itself while it runs, and the report that it makes of that for the others. */

import { KINDS, type Kind } from './turns.ts'

/** Why a crawl pauses; a bounded set, as a metric's label has to be. */
export const PAUSES = ['blind', 'band', 'clock', 'store', 'disk'] as const
export type Pause = {
  /**
   * `blind`: control questions are not answered as they must be. `band`: what visits find is unlike what they found for days.
   * `clock`: this machine's clock is ahead. `store`: the store fails. `disk`: its disk has too little room.
   */
  reason: (typeof PAUSES)[number]
  /** A sentence without names and addresses. */
  why: string
}

/** How a visit ended. `unseen`: not looked at, for a reason of ours; `failed`: a fault of the program. */
export const ENDS = ['ok', 'none', 'nxdomain', 'servfail', 'unseen', 'failed'] as const
export type End = (typeof ENDS)[number]

/** Upper bounds, in seconds, of what passes between the time a name is due and its visit; what is later is counted last. */
export const LAG_SECONDS = [
  10, 30, 60, 300, 900, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 1_209_600, 2_592_000,
] as const

/** A crawler's own words to whoever asks the store how the crawl goes. `rate`: visits a second in the last minute. */
export type Report = {
  rate: number
  visits: number
  lags: readonly number[]
  disagreements: number
  pause: (Pause & { seconds: number }) | null
}

/** Milliseconds of which the rate is told, and in how many parts they are counted. */
const SPAN = 60_000
const PARTS = 12
/** After so many lags the older half of them counts no more. */
const LAGS = 20_000

export class Figures {
  readonly visits: Record<Kind, Record<End, number>> = byKind()
  readonly slices = { saved: 0, thrown: 0 }
  /** Visits made twice at once, and those of them that saw something else. */
  readonly twice = { made: 0, differed: 0 }
  #hasSeen = false
  #pause: (Pause & { since: number }) | null = null
  #lags: number[] = LAG_SECONDS.map(() => 0).concat(0)
  #parts: { part: number; visits: number }[] = []

  end(kind: Kind, end: End, now: number): void {
    this.visits[kind][end]++
    const part = Math.floor(now / (SPAN / PARTS))
    if (this.#parts.at(-1)?.part !== part) this.#parts.push({ part, visits: 0 })
    if (this.#parts.length > PARTS + 1) this.#parts.shift()
    this.#parts.at(-1)!.visits++
  }

  /** `seconds`: how long after it was due a name was visited. */
  lag(seconds: number): void {
    const place = LAG_SECONDS.findIndex((bound) => seconds <= bound)
    this.#lags[place < 0 ? LAG_SECONDS.length : place]!++
    if (this.#lags.reduce((sum, count) => sum + count) > LAGS) this.#lags = this.#lags.map((count) => count >> 1)
  }

  /** It pauses, unless it does already; since when is told from the first time on. `now` in milliseconds. */
  paused(reason: Pause['reason'], why: string, now: number): void {
    this.#pause = { reason, why, since: this.#pause?.since ?? now }
  }

  goesOn(): void {
    this.#hasSeen = true
    this.#pause = null
  }

  /** Why nothing is visited; null while something may be. */
  get trouble(): string | null {
    return this.#pause?.why ?? (this.#hasSeen ? null : 'no control question was answered yet')
  }

  get pause(): Pause | null {
    return this.#pause
  }

  get lags(): readonly number[] {
    return this.#lags
  }

  /** Visits a second in the last minute; `now` in milliseconds of the clock that is never set. */
  rate(now: number): number {
    const first = Math.floor((now - SPAN) / (SPAN / PARTS))
    const counted = this.#parts.filter(({ part }) => part > first)
    return counted.reduce((sum, { visits }) => sum + visits, 0) / (SPAN / 1000)
  }

  report(now: number): Report {
    const visits = Object.values(this.visits).flatMap((ends) => Object.values(ends))
    return {
      rate: this.rate(now),
      visits: visits.reduce((sum, count) => sum + count),
      lags: this.#lags,
      disagreements: this.twice.differed,
      pause: this.#pause && {
        reason: this.#pause.reason,
        why: this.#pause.why,
        seconds: Math.round((now - this.#pause.since) / 1000),
      },
    }
  }
}

function byKind(): Record<Kind, Record<End, number>> {
  const none = (): Record<End, number> => Object.fromEntries(ENDS.map((end) => [end, 0])) as Record<End, number>
  return Object.fromEntries(KINDS.map((kind) => [kind, none()])) as Record<Kind, Record<End, number>>
}
