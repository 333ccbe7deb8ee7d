/** The slot ranges that a session leases, and their unfinished names. */

import { LEASE_SECONDS, type Lease } from '../../store/port/schedule.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { CrawlSession } from '../session.ts'
import type { CrawlMemory } from './crawl-memory.ts'
import type { CrawlerDependencies } from './crawler-dependencies.ts'
import { finishedSweep, type HeldRange, isRangeDone, type LeasedCandidate } from './held-range.ts'

const LEASE_MS = LEASE_SECONDS * 1000
/** Milliseconds for which a requested name is skipped if its wait is too long. */
export const REQUEST_BACKOFF_MS = 60_000

export class LeasedRanges {
  readonly crawl: CrawlerDependencies
  readonly memory: CrawlMemory
  readonly session: CrawlSession<LeasedCandidate>
  readonly heldRanges = new Map<number, HeldRange>()
  /** Started probes, and names rejected because of their wait, since the last read of names. */
  readonly sinceLastRead = { started: 0, rejected: 0 }

  constructor(crawl: CrawlerDependencies, memory: CrawlMemory, session: CrawlSession<LeasedCandidate>) {
    this.crawl = crawl
    this.memory = memory
    this.session = session
  }

  /** Returns a name to its slot. */
  takeBack(candidate: LeasedCandidate, isRejected: boolean): void {
    if (candidate.heldRange.sweep !== null) candidate.heldRange.sweep.hasReturned = true
    this.forget(candidate)
    if (isRejected) this.sinceLastRead.rejected++
    if (isRejected && candidate.requests.size > 0) this.backOff(candidate.name, REQUEST_BACKOFF_MS)
  }

  /** Leases ranges. Without `ranges`, those whose sweep is due. */
  async lease(maxRanges: number, ranges?: readonly number[]): Promise<HeldRange[]> {
    const { store, holder, clock } = this.crawl
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
    const leasedUntil = this.crawl.clock.monotonicMs() + LEASE_MS
    const renewed = await this.crawl.store.schedule.renew(all.map(({ lease }) => lease))
    const fences = new Map(renewed.map(({ range, fence }) => [range, fence]))
    for (const heldRange of all) {
      if (fences.get(heldRange.lease.range) === heldRange.lease.fence) heldRange.leasedUntil = leasedUntil
      else this.dropRange(heldRange)
    }
  }

  dropRange(heldRange: HeldRange): void {
    if (this.isHeld(heldRange)) this.heldRanges.delete(heldRange.lease.range)
    for (const candidate of [...heldRange.openCandidates]) this.forget(candidate)
  }

  /** False if the lease was lost or released. */
  isHeld(heldRange: HeldRange): boolean {
    return this.heldRanges.get(heldRange.lease.range) === heldRange
  }

  /** Releases the ranges without open work, or all of them with `all`. */
  async release(all = false): Promise<void> {
    const { store, timings } = this.crawl
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

  admit(candidate: LeasedCandidate): void {
    candidate.heldRange.openCandidates.add(candidate)
    this.session.admit(candidate)
  }

  /** Removes a candidate from its range and from the session. */
  forget(candidate: LeasedCandidate): void {
    candidate.heldRange.openCandidates.delete(candidate)
    this.session.forget(candidate)
  }

  /** Skips a requested name for a while. */
  backOff(name: DomainName, milliseconds: number): void {
    this.memory.backedOff.set(name, this.crawl.clock.monotonicMs() + milliseconds)
  }
}
