/** What visits of a list saw, held back until the self-check after them is well: then it is written, otherwise thrown away. */

import type { Observation } from '../../observe/observation.ts'
import type { Instant } from '../../values/time.ts'
import { type BatchVerification, requireNoAnomaly, requireSelfCheck } from '../anomaly/batch-verification.ts'
import { countOutcomes } from '../anomaly/outcome-counts.ts'
import type { PriorState } from '../anomaly/prior-state.ts'
import { type CrawlClock, createNotifier, type Notifier } from '../notifier.ts'
import { CrawlPauseError } from '../session.ts'
import type { ProbeOutcome } from '../status/stats.ts'
import type { NameEntry } from './name-list.ts'

/** A visit that is over. `dns` of its observation is null where the name could not be looked at. */
export type ListProbe = {
  entry: NameEntry
  observation: Observation
  at: Instant
  outcome: ProbeOutcome
  candidate: { prior: PriorState }
}

type VerifiedWriterOptions = {
  verification: BatchVerification
  clock: CrawlClock
  signal: AbortSignal
  write(batch: readonly ListProbe[]): Promise<void>
  /** Told of names whose visits were thrown away, which are to be visited again. */
  onDiscarded(entries: readonly NameEntry[]): void
  /** Told when visits may begin again. */
  onReady(): void
}

/** Visits that are checked and written together, at most, and milliseconds that one of them waits for others. */
const MAX_BATCH_PROBES = 500
const MAX_BATCH_DELAY_MS = 30_000
/** Milliseconds that they wait where no other visit is under way. */
const IDLE_BATCH_DELAY_MS = 1_000
const MAX_UNSAVED_PROBES = 2_000
/** Milliseconds until a crawl that pauses looks again, at first and at most. */
const MIN_RETRY_DELAY_MS = 2_000
const MAX_RETRY_DELAY_MS = 60_000

export class VerifiedWriter {
  readonly #options: VerifiedWriterOptions
  readonly #notifier: Notifier
  readonly #running: Promise<void>
  #finished: ListProbe[] = []
  #oldestFinishedAt = 0
  #probesInFlight = 0
  /** Raised when what was seen until then is thrown away. */
  #epoch = 0
  #retryDelay = MIN_RETRY_DELAY_MS
  #pause: { reason: string | null; retryAfterMs: number } | null = { reason: null, retryAfterMs: 0 }
  #isEnding = false
  #settleCallbacks: (() => void)[] = []
  #failure: { error: unknown } | null = null

  constructor(options: VerifiedWriterOptions) {
    this.#options = options
    this.#notifier = createNotifier(options.clock)
    this.#running = this.#run().catch((error) => {
      this.#failure = { error }
      options.onReady()
      for (const done of this.#settleCallbacks.splice(0)) done()
    })
  }

  /** Whether no visit may begin: the crawl cannot trust what it sees, or too much of it waits. */
  get isPaused(): boolean {
    return this.#failure === null && (this.#pause !== null || this.#finished.length >= MAX_UNSAVED_PROBES)
  }

  /** A visit begins; `end` wants what this returns. */
  startProbe(): number {
    this.#probesInFlight++
    return this.#epoch
  }

  /** A visit is over; `seen` is null where there is nothing to be written. Throws what writing threw. */
  finishProbe(startEpoch: number, probe: ListProbe | null): void {
    this.#probesInFlight--
    if (probe !== null && startEpoch !== this.#epoch) this.#options.onDiscarded([probe.entry])
    else if (probe !== null) {
      if (this.#finished.length === 0) this.#oldestFinishedAt = this.#options.clock.monotonicMs()
      this.#finished.push(probe)
    }
    if (this.#probesInFlight === 0 || this.#finished.length >= MAX_BATCH_PROBES) this.#notifier.notify()
    if (this.#failure !== null) throw this.#failure.error
  }

  /** What was seen cannot be trusted; the crawl pauses. */
  pauseFor(pause: CrawlPauseError): void {
    const { verification: check, onDiscarded: onThrown } = this.#options
    this.#epoch++
    if (this.#pause?.reason !== pause.message) check.log(`crawl paused: ${pause.message}`)
    this.#pause = { reason: pause.message, retryAfterMs: pause.retryAfterMs }
    onThrown(this.#finished.splice(0).map(({ entry }) => entry))
    this.#notifier.notify()
  }

  /** Resolves when nothing waits to be written. Throws what writing threw. */
  async settle(): Promise<void> {
    if (this.#failure === null) {
      await new Promise<void>((done) => {
        this.#settleCallbacks.push(done)
        this.#notifier.notify()
      })
    }
    if (this.#failure !== null) throw this.#failure.error
  }

  async close(): Promise<void> {
    this.#isEnding = true
    this.#notifier.notify()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#options
    while (!this.#isEnding) {
      if (this.#finished.length === 0) for (const done of this.#settleCallbacks.splice(0)) done()
      if (this.#pause !== null && !signal.aborted) await this.#recover()
      else if (this.#finished.length > 0 && this.#untilBatchDue() <= 0) await this.#save()
      else await this.#notifier.wait(this.#finished.length > 0 ? this.#untilBatchDue() : MAX_BATCH_DELAY_MS)
    }
  }

  #untilBatchDue(): number {
    if (this.#finished.length >= MAX_BATCH_PROBES || this.#settleCallbacks.length > 0) return 0
    return (
      this.#oldestFinishedAt +
      (this.#probesInFlight === 0 ? IDLE_BATCH_DELAY_MS : MAX_BATCH_DELAY_MS) -
      this.#options.clock.monotonicMs()
    )
  }

  /** Looks until the eyes are good again; at first at once. */
  async #recover(): Promise<void> {
    const { verification: check, clock, signal, onReady } = this.#options
    const { reason: why, retryAfterMs: rest } = this.#pause!
    if (why !== null) {
      await clock.wait(Math.max(this.#retryDelay, rest), signal)
      this.#retryDelay = Math.min(2 * this.#retryDelay, MAX_RETRY_DELAY_MS)
    }
    if (signal.aborted || !(await this.#verifies(() => requireSelfCheck(check)))) return
    this.#pause = null
    if (why !== null) check.log('crawl resumed')
    onReady()
  }

  async #save(): Promise<void> {
    const { verification: check, write, onDiscarded: onThrown } = this.#options
    const batch = this.#finished.splice(0)
    const isTrusted = await this.#verifies(async () => {
      await requireSelfCheck(check)
      await requireNoAnomaly(check, countOutcomes(batch))
    })
    if (!isTrusted) return onThrown(batch.map(({ entry }) => entry))
    await write(batch)
    this.#retryDelay = MIN_RETRY_DELAY_MS
    this.#options.onReady()
  }

  /** False where it throws Trouble, for which the crawl then pauses. */
  async #verifies(action: () => Promise<void>): Promise<boolean> {
    try {
      await action()
      return true
    } catch (error) {
      if (!(error instanceof CrawlPauseError)) throw error
      this.pauseFor(error)
      return false
    }
  }
}
