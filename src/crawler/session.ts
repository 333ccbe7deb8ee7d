/**
 * A crawl session: everything that a crawler holds between two successful self-checks. It is discarded as a whole if
 * one fails.
 */

import type { PolitenessLimiter } from '../probe/policy/politeness-limiter.ts'
import type { ProbeResult } from '../probe/probe-result.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { AnomalyState } from './anomaly/anomaly-detector.ts'
import { type CrawlClock, createNotifier, type Notifier } from './notifier.ts'
import { createKindSelector, type KindShares } from './queue/kind-selector.ts'
import type { ProbeRateLimit } from './queue/probe-rate-limit.ts'
import { ReadyQueue } from './queue/ready-queue.ts'
import type { Candidate, FinishedProbe, ObservedProbe, RequestSource } from './request-source.ts'
import type { ResultSink } from './result-sink.ts'
import type { CrawlPause, CrawlStats } from './status/stats.ts'

/** The outcome of the self-check. `reason` is a sentence. */
export type SelfCheckOutcome = { passed: true } | { passed: false; reason: string }

/** Why a session is paused. `retryAfterMs`: the minimum of milliseconds until the next one. */
export class CrawlPauseError extends Error {
  readonly reason: CrawlPause['reason']
  readonly retryAfterMs: number

  constructor(reason: CrawlPause['reason'], message: string, retryAfterMs = 0) {
    super(message)
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

/** The parts and limits with which the crawl scheduler runs. */
export type SchedulerDependencies<C extends Candidate> = {
  /** Creates the source of a session. */
  openSource(session: CrawlSession<C>): RequestSource<C>
  sink: ResultSink
  /** `granted`: addresses at which the rate limiter already granted the probe. */
  probe(name: DomainName, granted?: readonly IpAddress[]): Promise<ProbeResult>
  /** Whether a probe runs twice at once, to compare its results. */
  isRepeated(): boolean
  politeness: Pick<PolitenessLimiter, 'wait' | 'acquire' | 'backoffRemaining'>
  /** A name with a longer wait at its targets returns to its source. In milliseconds. */
  maxDelayMs: number
  shares: KindShares
  rateLimit: ProbeRateLimit
  /** Maximum of probes in flight. */
  parallel: number
  /** Milliseconds that results wait to be verified and saved as one batch. */
  batchMs: number
  /** Milliseconds between two self-checks while there are no results. */
  idleCheckMs: number
  runSelfCheck(): Promise<SelfCheckOutcome>
  /** The domains to add to the store that a probe revealed. Without it, none. */
  revealedBy?(probed: ObservedProbe): readonly DomainName[]
  /** Describes the shortage of disk space of the store in a sentence. Returns null if there is enough. */
  diskShortage?(): Promise<string | null>
  clock: CrawlClock
  stats: CrawlStats
  /** A program error in one probe. The crawl continues. */
  onProbeError(name: DomainName, error: unknown): void
  /** Called for any other error. Returns the pause after which the crawl continues, or null to end it. */
  pauseAfter(error: unknown): CrawlPauseError | null
  /** Logs a message for the operator. */
  log(message: string): void
}

/** The state that outlives sessions. `inFlight`: the IDs of the candidates with a probe in flight, from any session. */
export type SessionMemory = { inFlight: Set<Candidate['id']>; anomalyState: AnomalyState }

export class CrawlSession<C extends Candidate> {
  readonly dependencies: SchedulerDependencies<C>
  readonly memory: SessionMemory
  readonly source: RequestSource<C>
  readonly candidates = new Map<C['id'], C>()
  readonly queue: ReadyQueue<C>
  /** Probes in flight of this session. */
  probesInFlight = 0
  /** Results that wait for the next verification. */
  finished: FinishedProbe<C>[] = []
  /** The time of the oldest result in `finished`, in milliseconds. */
  oldestFinishedAt = 0
  /** The time of the last successful verification, in milliseconds. */
  lastVerifiedAt: number
  /** Notified when a probe may start. */
  readonly mayProbe: Notifier
  /** Notified when names of a kind are needed. */
  readonly namesNeeded: Notifier
  /** Notified when a batch may be due. */
  readonly probesDone: Notifier
  readonly #ending = new AbortController()
  pause: CrawlPauseError | null = null
  /** The error that ends the crawl, or null. */
  failure: { error: unknown } | null = null

  constructor(dependencies: SchedulerDependencies<C>, memory: SessionMemory) {
    this.dependencies = dependencies
    this.memory = memory
    const { politeness, maxDelayMs, clock, shares } = dependencies
    this.lastVerifiedAt = clock.monotonicMs()
    this.queue = new ReadyQueue({
      politeness,
      maxDelayMs,
      selectKind: createKindSelector(shares),
      onRejected: (candidate) => this.source.takeBack(candidate, true),
      onLow: () => this.namesNeeded.notify(),
    })
    this.mayProbe = createNotifier(clock)
    this.namesNeeded = createNotifier(clock)
    this.probesDone = createNotifier(clock)
    this.source = dependencies.openSource(this)
  }

  /** Aborted when the session ends. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  get isEnding(): boolean {
    return this.#ending.signal.aborted
  }

  /** Ends the session: no probe starts. With `pause`, its results are discarded. */
  end(pause: CrawlPauseError | null): void {
    if (pause !== null && this.pause === null) {
      this.pause = pause
      this.dependencies.stats.pauseFor(pause.reason, pause.message, this.dependencies.clock.monotonicMs())
      if (this.finished.length > 0) this.dependencies.stats.batches.discarded++
    }
    this.#ending.abort()
    for (const notifier of [this.mayProbe, this.namesNeeded, this.probesDone]) notifier.notify()
  }

  /** Ends the session after an error: pauses the crawl, or fails it. Logs each reason once, even if retries fail. */
  fail(error: unknown): void {
    const { stats, log, pauseAfter } = this.dependencies
    const pause = error instanceof CrawlPauseError ? error : pauseAfter(error)
    if (pause === null) this.failure ??= { error }
    else if (stats.pause?.message !== pause.message) log(`crawl paused: ${pause.message}`)
    this.end(pause)
  }

  /** Adds a candidate to the queue. `isGranted`: its targets are already acquired. */
  admit(candidate: C, isGranted = false): void {
    this.candidates.set(candidate.id, candidate)
    this.queue.add(candidate, isGranted)
  }

  /** False if the candidate was dropped or replaced. */
  has(candidate: C): boolean {
    return this.candidates.get(candidate.id) === candidate
  }

  /** Removes a candidate from the session. */
  forget(candidate: C): void {
    if (this.has(candidate)) this.candidates.delete(candidate.id)
    this.queue.remove(candidate)
  }
}
