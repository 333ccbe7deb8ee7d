/** The rarities that a process answers by: learnt again when the index has moved on, and put in use by all processes at the same instants. */

import type { Rarities } from '../similar/rarities.ts'
import type { Clock } from '../store/duty.ts'
import type { Segment, Similar } from '../store/similar.ts'
import { learn } from './learn.ts'

/** Up to so many wordings they are learnt before the answer: then a number hangs on the index alone. */
export const AT_ONCE = 20_000
/** With more than so many times the wordings they are learnt before the answer too, if nobody watches: rarities of few say little of many. */
const OUTGROWN = 2
/** Milliseconds between two looks at the segments. */
const LOOK = 1_000
/** Larger indexes are learnt anew at every look up to so many wordings, at every other one up to twice as many, and so on. */
const WORDINGS_A_LOOK = 100_000

type Source = Pick<Similar, 'segments' | 'frequencies'>

/** `isCurrent`: whether they are those of all segments that answer now. */
export type Learnt = { rarities: Rarities; isCurrent: boolean }

export type RarityKeeper = {
  /** The rarities in use. Waits if none were learnt, if the index is small, and if nobody watches and it has more than doubled. */
  now(): Promise<Learnt>
  /** Learns them again as the index moves, whether or not anybody asks, until the signal comes. Nothing that fails ends it. */
  watch(clock: Clock, signal: AbortSignal): Promise<void>
}

/** Rarities of all segments of a key; null if a segment went before it had been read twice. `from`: in use from then on. */
type Generation = { rarities: Rarities; key: string | null; from: number }

/** What is learnt lacks less than this share of the wordings, those of segments that went meanwhile: with others it is begun anew. */
const LACKING = 1 / 100
/** So often, at most. */
const TRIES = 3

/** `now`: milliseconds of the clock that all processes share. `atOnce`: up to so many wordings an index is small. */
export function keepRarities(similar: Source, now: () => number, atOnce = AT_ONCE): RarityKeeper {
  const keeper = new Keeper(similar, now, atOnce)
  return { now: () => keeper.now(), watch: (clock, signal) => keeper.watch(clock, signal) }
}

class Keeper {
  private readonly similar: Source
  private readonly clock: () => number
  private readonly atOnce: number
  private used: Generation | null = null
  private next: Generation | null = null
  private learning: Promise<Generation> | null = null
  /** When learning began last. */
  private began = Number.NEGATIVE_INFINITY
  private isWatched = false

  constructor(similar: Source, now: () => number, atOnce: number) {
    this.similar = similar
    this.clock = now
    this.atOnce = atOnce
  }

  async now(): Promise<Learnt> {
    for (let tries = 1; ; tries++) {
      const segments = await this.similar.segments()
      const key = keyOf(segments)
      const used = this.inUse()
      if (used?.key === key) return { rarities: used.rarities, isCurrent: true }
      if (used !== null && (!this.hasToWait(segments, used) || tries > TRIES)) {
        if (!this.isWatched && this.isRested(periodOf(segments))) this.learn(0).catch(() => {})
        return { rarities: used.rarities, isCurrent: false }
      }
      if (this.next?.key === key) this.next.from = 0
      else await this.learn(0)
    }
  }

  async watch(clock: Clock, signal: AbortSignal): Promise<void> {
    this.isWatched = true
    while (!signal.aborted) {
      await clock.wait(LOOK - (this.clock() % LOOK), signal)
      if (!signal.aborted) await this.look().catch(() => {}) // who asks meanwhile hears of it
    }
    this.isWatched = false
  }

  /** Processes that look at the same instant learn the same, and put it in use at the same instant, one period later. */
  private async look(): Promise<void> {
    const looked = Math.floor(this.clock() / LOOK) * LOOK
    const segments = await this.similar.segments()
    const period = periodOf(segments)
    const used = this.inUse()
    const newest = this.next ?? used
    if (newest?.key === keyOf(segments) || looked % period !== 0) return
    await this.learn(this.isSmall(segments) || newest === null ? 0 : looked + period)
  }

  private inUse(): Generation | null {
    if (this.next !== null && this.clock() >= this.next.from) [this.used, this.next] = [this.next, null]
    return this.used
  }

  /** Where it is watched, all processes go by the same rarities rather than by the newest. */
  private hasToWait(segments: readonly Segment[], { rarities }: Generation): boolean {
    return this.isSmall(segments) || (!this.isWatched && OUTGROWN * rarities.wordings < wordingsOf(segments))
  }

  private isSmall(segments: readonly Segment[]): boolean {
    return wordingsOf(segments) <= this.atOnce
  }

  private isRested(period: number): boolean {
    const passed = this.clock() - this.began
    return passed >= period || passed < 0
  }

  /** One learning at a time, whoever asks for it. */
  private learn(from: number): Promise<Generation> {
    this.learning ??= this.learnNow(from).finally(() => {
      this.learning = null
    })
    return this.learning
  }

  private async learnNow(from: number): Promise<Generation> {
    this.began = this.clock()
    const [rarities, whole] = await learnWhole(this.similar)
    this.next = { rarities, key: whole && keyOf(whole), from }
    return this.next
  }
}

/** What is learnt, and of which segments where none went before it had been read twice: then it may lack words. */
async function learnWhole(similar: Source): Promise<[Rarities, readonly Segment[] | null]> {
  for (let tries = 1; ; tries++) {
    const segments = await similar.segments()
    const learnt = await learn(similar, segments)
    const left = new Set((await similar.segments()).map(({ segment }) => segment))
    const gone = segments.filter(({ segment }) => !left.has(segment))
    if (gone.length === 0) return [learnt, segments]
    if (tries === TRIES || wordingsOf(gone) < LACKING * wordingsOf(segments)) return [learnt, null]
  }
}

/** Milliseconds, a whole number of looks. */
function periodOf(segments: readonly Segment[]): number {
  return LOOK * Math.max(1, Math.ceil(wordingsOf(segments) / WORDINGS_A_LOOK))
}

function wordingsOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { wordings }) => sum + wordings, 0)
}

function keyOf(segments: readonly Segment[]): string {
  return segments.map(({ segment }) => segment).join(' ')
}
