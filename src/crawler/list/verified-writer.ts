/** Holds results of a list crawl until the next verification, then writes or discards them. */

import type { Observation } from '../../observe/observation.ts'
import type { Instant } from '../../values/time.ts'
import { type BatchVerification, requireNoAnomaly, requireSelfCheck } from '../anomaly/batch-verification.ts'
import { countOutcomes } from '../anomaly/outcome-counts.ts'
import type { PriorState } from '../anomaly/prior-state.ts'
import { type CrawlClock, createNotifier, type Notifier } from '../notifier.ts'
import { CrawlPauseError } from '../session.ts'
import type { ProbeOutcome } from '../status/stats.ts'
import type { NameEntry } from './name-list.ts'

/** A finished probe. `dns` of its observation is null if the name could not be probed. */
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
  /** Called with the names of discarded results, to probe them again. */
  onDiscarded(entries: readonly NameEntry[]): void
  /** Called when probes may start again. */
  onReady(): void
}

/** Maximum of results in a batch, and milliseconds that a result waits for others. */
const MAX_BATCH_PROBES = 500
const MAX_BATCH_DELAY_MS = 30_000
/** Milliseconds that results wait if no probe is in flight. */
const IDLE_BATCH_DELAY_MS = 1_000
const MAX_UNSAVED_PROBES = 2_000
/** Milliseconds until a paused crawl retries, at first and at most. */
const MIN_RETRY_DELAY_MS = 2_000
const MAX_RETRY_DELAY_MS = 60_000

export class VerifiedWriter {
  readonly #options: VerifiedWriterOptions
  readonly #notifier: Notifier
  readonly #running: Promise<void>
  #finished: ListProbe[] = []
  #oldestFinishedAt = 0
  #probesInFlight = 0
  /** Incremented when the pending results are discarded. */
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

  /** Whether no probe may start, because the crawl is paused or has too many unsaved results. */
  get isPaused(): boolean {
    return this.#failure === null && (this.#pause !== null || this.#finished.length >= MAX_UNSAVED_PROBES)
  }

  /** Records the start of a probe. Pass the returned epoch to `finishProbe`. */
  startProbe(): number {
    this.#probesInFlight++
    return this.#epoch
  }

  /** Records the end of a probe. `probe` is null if there is nothing to write. Throws the error of a failed write. */
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

  /** Pauses the crawl and discards the pending results, because they are not trustworthy. */
  pauseFor(pause: CrawlPauseError): void {
    const { verification, onDiscarded } = this.#options
    this.#epoch++
    if (this.#pause?.reason !== pause.message) verification.log(`crawl paused: ${pause.message}`)
    this.#pause = { reason: pause.message, retryAfterMs: pause.retryAfterMs }
    onDiscarded(this.#finished.splice(0).map(({ entry }) => entry))
    this.#notifier.notify()
  }

  /** Resolves when nothing is pending. Throws the error of a failed write. */
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

  /** Repeats the self-check until it passes, the first time at once. */
  async #recover(): Promise<void> {
    const { verification, clock, signal, onReady } = this.#options
    const { reason, retryAfterMs } = this.#pause!
    if (reason !== null) {
      await clock.wait(Math.max(this.#retryDelay, retryAfterMs), signal)
      this.#retryDelay = Math.min(2 * this.#retryDelay, MAX_RETRY_DELAY_MS)
    }
    if (signal.aborted || !(await this.#verifies(() => requireSelfCheck(verification)))) return
    this.#pause = null
    if (reason !== null) verification.log('crawl resumed')
    onReady()
  }

  async #save(): Promise<void> {
    const { verification, write, onDiscarded } = this.#options
    const batch = this.#finished.splice(0)
    const isTrusted = await this.#verifies(async () => {
      await requireSelfCheck(verification)
      await requireNoAnomaly(verification, countOutcomes(batch))
    })
    if (!isTrusted) return onDiscarded(batch.map(({ entry }) => entry))
    await write(batch)
    this.#retryDelay = MIN_RETRY_DELAY_MS
    this.#options.onReady()
  }

  /** Returns false and pauses the crawl if the action throws CrawlPauseError. */
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
