/** A span of a crawl: all that it has in hand while it trusts its eyes and its store, and is given up as a whole where it does not. */

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

/** Why a span is given up. `rest`: milliseconds until another one is tried, at least. */
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
 * A visit that is over. `observation` is null where there is nothing to be written; `again`: it is visited again soon; `held`:
 * the address where it had no turn in time, or null.
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
/** Milliseconds for which a wanted name rests that has no turn. */
export const REQUEST_BACKOFF_MS = 60_000

export class CrawlSession {
  readonly dependencies: CrawlerDependencies
  readonly memory: CrawlMemory
  readonly heldRanges = new Map<number, HeldRange>()
  readonly candidates = new Map<DomainName, Candidate>()
  readonly queue: ReadyQueue
  /** Visits begun, and names that found no turn at their place, since names were read last. */
  readonly sinceLastRead = { started: 0, rejected: 0 }
  /** Begun and not over, by this span. */
  probesInFlight = 0
  finished: FinishedProbe[] = []
  /** When the oldest of `seen` came, and when eyes were last found good, in milliseconds. */
  oldestFinishedAt = 0
  lastVerifiedAt: number
  /** Rung when a visit may begin; when names are wanted; when visits are over. */
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

  /** Begins nothing more. With a trouble nothing that was seen is kept. */
  end(pause: CrawlPauseError | null): void {
    if (pause !== null && this.pause === null) {
      this.pause = pause
      this.dependencies.stats.pauseFor(pause.reason, pause.message, this.dependencies.clock.monotonicMs())
      if (this.finished.length > 0) this.dependencies.stats.batches.discarded++
    }
    this.isEnding = true
    for (const notifier of [this.mayProbe, this.namesNeeded, this.probesDone, this.requestsWanted]) notifier.notify()
  }

  /** Every range was given back. */
  finish(): void {
    this.isFinished = true
    this.renewalDue.notify()
  }

  /** Leases ranges; without `ranges` those whose sweep is due. */
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

  /** Prolongs all leases; what belongs to one that is lost is thrown away. */
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

  /** Gives back the ranges in which nothing is left to be done; with `all`, every one. */
  async release(all = false): Promise<void> {
    const { store, timings: times } = this.dependencies
    const isReleasable = (heldRange: HeldRange): boolean => all || (!heldRange.isReading && isRangeDone(heldRange))
    if (![...this.heldRanges.values()].some(isReleasable)) return
    const now = await store.now()
    const done = [...this.heldRanges.values()].filter(isReleasable) // names may have come in meanwhile; from here on none does
    for (const { lease } of done) this.heldRanges.delete(lease.range)
    await store.schedule.release(
      done.map((held) => ({
        lease: held.lease,
        sweep: isRangeDone(held) ? finishedSweep(held, now, times.sweepSeconds) : null,
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

  /** True while nobody has taken it away. */
  has(candidate: Candidate): boolean {
    return this.candidates.get(candidate.name) === candidate
  }

  #reject(candidate: Candidate): void {
    this.sinceLastRead.rejected++
    this.returnToSlot(candidate)
    if (candidate.requests.size > 0) this.backOff(candidate.name, REQUEST_BACKOFF_MS)
  }

  /** A wanted name is passed over for a while. */
  backOff(name: DomainName, milliseconds: number): void {
    this.memory.backedOff.set(name, this.dependencies.clock.monotonicMs() + milliseconds)
  }

  /** It goes back to its slot. */
  returnToSlot(candidate: Candidate): void {
    if (candidate.heldRange.sweep !== null) candidate.heldRange.sweep.hasReturned = true
    this.forget(candidate)
  }

  /** It is in hand no more. */
  forget(candidate: Candidate): void {
    if (this.has(candidate)) this.candidates.delete(candidate.name)
    candidate.heldRange.openCandidates.delete(candidate)
    this.queue.remove(candidate)
  }
}
