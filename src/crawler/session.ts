/**
 * A crawl session: everything that a crawler holds between two successful self-checks. It is discarded as a whole if
 * one fails.
 */

import type { Observation } from '../observe/observation.ts'
import { LEASE_SECONDS, type Lease } from '../store/port/schedule.ts'
import type { DomainName } from '../values/domain-name.ts'
import type { IpAddress } from '../values/ip-address.ts'
import type { Instant } from '../values/time.ts'
import type { CrawlMemory } from './crawl-memory.ts'
import type { CrawlerDependencies } from './dependencies.ts'
import { createNotifier, type Notifier } from './notifier.ts'
import { type Candidate, finishedSweep, type HeldRange, isRangeDone } from './queue/held-range.ts'
import { createKindSelector } from './queue/kind-selector.ts'
import { ReadyQueue } from './queue/ready-queue.ts'
import type { CrawlPause, ProbeOutcome } from './status/stats.ts'

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

/**
 * A finished probe. `observation` is null if there is nothing to write. `isRetried`: the name is probed again soon.
 * `deferredAt`: the address with a wait that was too long, or null.
 */
export type FinishedProbe = {
  candidate: Candidate
  at: Instant
  observation: Observation | null
  outcome: ProbeOutcome
  isRetried: boolean
  deferredAt: IpAddress | null
}

const LEASE_MS = LEASE_SECONDS * 1000
/** Milliseconds for which a requested name is skipped if its wait is too long. */
export const REQUEST_BACKOFF_MS = 60_000

export class CrawlSession {
  readonly dependencies: CrawlerDependencies
  readonly memory: CrawlMemory
  readonly heldRanges = new Map<number, HeldRange>()
  readonly candidates = new Map<DomainName, Candidate>()
  readonly queue: ReadyQueue
  /** Started probes, and names rejected because of their wait, since the last read of names. */
  readonly sinceLastRead = { started: 0, rejected: 0 }
  /** Probes in flight of this session. */
  probesInFlight = 0
  finished: FinishedProbe[] = []
  /** The time of the oldest result in `finished`, and of the last successful self-check, in milliseconds. */
  oldestFinishedAt = 0
  lastVerifiedAt: number
  /**
   * Notified when a probe may start, when names are needed, and when probes are done. The others: when crawl requests
   * should be read, and when leases are due for renewal.
   */
  readonly mayProbe: Notifier
  readonly namesNeeded: Notifier
  readonly probesDone: Notifier
  readonly requestsWanted: Notifier
  readonly renewalDue: Notifier
  isEnding = false
  isFinished = false
  pause: CrawlPauseError | null = null

  constructor(dependencies: CrawlerDependencies, memory: CrawlMemory) {
    this.dependencies = dependencies
    this.memory = memory
    this.lastVerifiedAt = dependencies.clock.monotonicMs()
    const { politeness, clock, shares } = dependencies
    this.queue = new ReadyQueue({
      politeness,
      selectKind: createKindSelector(shares),
      onRejected: (candidate) => this.#reject(candidate),
      onLow: () => this.namesNeeded.notify(),
    })
    this.mayProbe = createNotifier(clock)
    this.namesNeeded = createNotifier(clock)
    this.probesDone = createNotifier(clock)
    this.requestsWanted = createNotifier(clock)
    this.renewalDue = createNotifier(clock)
  }

  /** Ends the session: no probe starts. With `pause`, its results are discarded. */
  end(pause: CrawlPauseError | null): void {
    if (pause !== null && this.pause === null) {
      this.pause = pause
      this.dependencies.stats.pauseFor(pause.reason, pause.message, this.dependencies.clock.monotonicMs())
      if (this.finished.length > 0) this.dependencies.stats.batches.discarded++
    }
    this.isEnding = true
    for (const notifier of [this.mayProbe, this.namesNeeded, this.probesDone, this.requestsWanted]) notifier.notify()
  }

  /** Called after every range was released. */
  finish(): void {
    this.isFinished = true
    this.renewalDue.notify()
  }

  /** Leases ranges. Without `ranges`, those whose sweep is due. */
  async lease(maxRanges: number, ranges?: readonly number[]): Promise<HeldRange[]> {
    const { store, holder, clock } = this.dependencies
    const leasedUntil = clock.monotonicMs() + LEASE_MS
    const leases = await store.schedule.lease(holder, maxRanges, ranges)
    return leases.map((lease) => {
      const heldRange: HeldRange = { lease, leasedUntil, openCandidates: new Set(), sweep: null, isReading: true }
      this.heldRanges.set(lease.range, heldRange)
      return heldRange
    })
  }

  /** Renews all leases and drops the names of lost ones. */
  async renew(): Promise<void> {
    const all = [...this.heldRanges.values()]
    if (all.length === 0) return
    const leasedUntil = this.dependencies.clock.monotonicMs() + LEASE_MS
    const renewed = await this.dependencies.store.schedule.renew(all.map(({ lease }) => lease))
    const fences = new Map(renewed.map(({ range, fence }) => [range, fence]))
    for (const heldRange of all) {
      if (fences.get(heldRange.lease.range) === heldRange.lease.fence) heldRange.leasedUntil = leasedUntil
      else this.dropRange(heldRange)
    }
  }

  dropRange(heldRange: HeldRange): void {
    if (this.heldRanges.get(heldRange.lease.range) === heldRange) this.heldRanges.delete(heldRange.lease.range)
    for (const candidate of [...heldRange.openCandidates]) this.forget(candidate)
  }

  /** Releases the ranges without open work, or all of them with `all`. */
  async release(all = false): Promise<void> {
    const { store, timings } = this.dependencies
    const isReleasable = (heldRange: HeldRange): boolean => all || (!heldRange.isReading && isRangeDone(heldRange))
    if (![...this.heldRanges.values()].some(isReleasable)) return
    const now = await store.now()
    // names may have been admitted in the meantime, but none from here on
    const done = [...this.heldRanges.values()].filter(isReleasable)
    for (const { lease } of done) this.heldRanges.delete(lease.range)
    await store.schedule.release(
      done.map((heldRange) => ({
        lease: heldRange.lease,
        sweep: isRangeDone(heldRange) ? finishedSweep(heldRange, now, timings.sweepSeconds) : null,
      })),
    )
  }

  leases(): Lease[] {
    return [...this.heldRanges.values()].map(({ lease }) => lease)
  }

  admit(candidate: Candidate): void {
    this.candidates.set(candidate.name, candidate)
    candidate.heldRange.openCandidates.add(candidate)
    this.queue.add(candidate)
  }

  /** False if the candidate was dropped or replaced. */
  has(candidate: Candidate): boolean {
    return this.candidates.get(candidate.name) === candidate
  }

  #reject(candidate: Candidate): void {
    this.sinceLastRead.rejected++
    this.returnToSlot(candidate)
    if (candidate.requests.size > 0) this.backOff(candidate.name, REQUEST_BACKOFF_MS)
  }

  /** Skips a requested name for a while. */
  backOff(name: DomainName, milliseconds: number): void {
    this.memory.backedOff.set(name, this.dependencies.clock.monotonicMs() + milliseconds)
  }

  /** Returns a name to its slot. */
  returnToSlot(candidate: Candidate): void {
    if (candidate.heldRange.sweep !== null) candidate.heldRange.sweep.hasReturned = true
    this.forget(candidate)
  }

  /** Removes a candidate from the session. */
  forget(candidate: Candidate): void {
    if (this.has(candidate)) this.candidates.delete(candidate.name)
    candidate.heldRange.openCandidates.delete(candidate)
    this.queue.remove(candidate)
  }
}
