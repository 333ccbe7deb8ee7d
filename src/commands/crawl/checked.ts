/** What visits of a list saw, held back until the self-check after them is well: then it is written, otherwise thrown away. */

import type { Observation } from '../../observe/observation.ts'
import { type Bell, type Clock, makeBell } from '../../schedule/bell.ts'
import type { End } from '../../schedule/figures.ts'
import { outcomesOf } from '../../schedule/outcomes.ts'
import type { Past } from '../../schedule/past.ts'
import { judgeOutcomes, type SelfCheck, trustEyes } from '../../schedule/self-check.ts'
import { Trouble } from '../../schedule/span.ts'
import type { Instant } from '../../words/time.ts'
import type { Named } from './list.ts'

/** A visit that is over. `dns` of its observation is null where the name could not be looked at. */
export type Seen = { entry: Named; observation: Observation; at: Instant; end: End; candidate: { past: Past } }

type CheckedOptions = {
  check: SelfCheck
  clock: Clock
  signal: AbortSignal
  write(slice: readonly Seen[]): Promise<void>
  /** Told of names whose visits were thrown away, which are to be visited again. */
  onThrown(entries: readonly Named[]): void
  /** Told when visits may begin again. */
  onReady(): void
}

/** Visits that are checked and written together, at most, and milliseconds that one of them waits for others. */
const SLICE = 500
const PATIENCE = 30_000
/** Milliseconds that they wait where no other visit is under way. */
const QUIET = 1_000
const MOST_WAITING = 2_000
/** Milliseconds until a crawl that pauses looks again, at first and at most. */
const AGAIN = 2_000
const AGAIN_MOST = 60_000

export class Checked {
  readonly #options: CheckedOptions
  readonly #bell: Bell
  readonly #working: Promise<void>
  #waiting: Seen[] = []
  #oldest = 0
  #flying = 0
  /** Raised when what was seen until then is thrown away. */
  #epoch = 0
  #again = AGAIN
  #pause: { why: string | null; rest: number } | null = { why: null, rest: 0 }
  #isEnding = false
  #settled: (() => void)[] = []
  #failure: { error: unknown } | null = null

  constructor(options: CheckedOptions) {
    this.#options = options
    this.#bell = makeBell(options.clock)
    this.#working = this.#work().catch((error) => {
      this.#failure = { error }
      options.onReady()
      for (const done of this.#settled.splice(0)) done()
    })
  }

  /** Whether no visit may begin: the crawl cannot trust what it sees, or too much of it waits. */
  get isPaused(): boolean {
    return this.#failure === null && (this.#pause !== null || this.#waiting.length >= MOST_WAITING)
  }

  /** A visit begins; `end` wants what this returns. */
  begin(): number {
    this.#flying++
    return this.#epoch
  }

  /** A visit is over; `seen` is null where there is nothing to be written. Throws what writing threw. */
  end(begun: number, seen: Seen | null): void {
    this.#flying--
    if (seen !== null && begun !== this.#epoch) this.#options.onThrown([seen.entry])
    else if (seen !== null) {
      if (this.#waiting.length === 0) this.#oldest = this.#options.clock.ticks()
      this.#waiting.push(seen)
    }
    if (this.#flying === 0 || this.#waiting.length >= SLICE) this.#bell.ring()
    if (this.#failure !== null) throw this.#failure.error
  }

  /** What was seen cannot be trusted; the crawl pauses. */
  giveUp(trouble: Trouble): void {
    const { check, onThrown } = this.#options
    this.#epoch++
    if (this.#pause?.why !== trouble.message) check.say(`the crawl pauses: ${trouble.message}`)
    this.#pause = { why: trouble.message, rest: trouble.rest }
    onThrown(this.#waiting.splice(0).map(({ entry }) => entry))
    this.#bell.ring()
  }

  /** Resolves when nothing waits to be written. Throws what writing threw. */
  async settle(): Promise<void> {
    if (this.#failure === null) {
      await new Promise<void>((done) => {
        this.#settled.push(done)
        this.#bell.ring()
      })
    }
    if (this.#failure !== null) throw this.#failure.error
  }

  async close(): Promise<void> {
    this.#isEnding = true
    this.#bell.ring()
    await this.#working
  }

  async #work(): Promise<void> {
    const { signal } = this.#options
    while (!this.#isEnding) {
      if (this.#waiting.length === 0) for (const done of this.#settled.splice(0)) done()
      if (this.#pause !== null && !signal.aborted) await this.#recover()
      else if (this.#waiting.length > 0 && this.#untilCut() <= 0) await this.#save()
      else await this.#bell.wait(this.#waiting.length > 0 ? this.#untilCut() : PATIENCE)
    }
  }

  #untilCut(): number {
    if (this.#waiting.length >= SLICE || this.#settled.length > 0) return 0
    return this.#oldest + (this.#flying === 0 ? QUIET : PATIENCE) - this.#options.clock.ticks()
  }

  /** Looks until the eyes are good again; at first at once. */
  async #recover(): Promise<void> {
    const { check, clock, signal, onReady } = this.#options
    const { why, rest } = this.#pause!
    if (why !== null) {
      await clock.wait(Math.max(this.#again, rest), signal)
      this.#again = Math.min(2 * this.#again, AGAIN_MOST)
    }
    if (signal.aborted || !(await this.#tries(() => trustEyes(check)))) return
    this.#pause = null
    if (why !== null) check.say('the crawl goes on')
    onReady()
  }

  async #save(): Promise<void> {
    const { check, write, onThrown } = this.#options
    const slice = this.#waiting.splice(0)
    const isTrusted = await this.#tries(async () => {
      await trustEyes(check)
      await judgeOutcomes(check, outcomesOf(slice))
    })
    if (!isTrusted) return onThrown(slice.map(({ entry }) => entry))
    await write(slice)
    this.#again = AGAIN
    this.#options.onReady()
  }

  /** False where it throws Trouble, for which the crawl then pauses. */
  async #tries(deed: () => Promise<void>): Promise<boolean> {
    try {
      await deed()
      return true
    } catch (error) {
      if (!(error instanceof Trouble)) throw error
      this.giveUp(error)
      return false
    }
  }
}
