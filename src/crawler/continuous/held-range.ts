/** A slot range that this crawler leases: its sweep, and its unfinished names. */

import type { CrawlState } from '../../apply/crawl-state.ts'
import type { CrawlRequestKind } from '../../store/port/crawl-requests.ts'
import type { Lease, RangeSweep, SlotCount } from '../../store/port/schedule.ts'
import { type DomainName, SLOTS_PER_RANGE } from '../../values/domain-name.ts'
import type { Instant } from '../../values/time.ts'
import type { Candidate } from '../request-source.ts'
import { EMPTY_SWEEP_COUNT } from '../status/sweep-count.ts'
import { type PlaceSweep, startPlaceSweep } from './list-places.ts'

/** A candidate of a leased range. */
export type LeasedCandidate = Candidate & {
  id: DomainName
  state: CrawlState
  heldRange: HeldRange
  /** When the state was read. */
  readAt: Instant
  /** The crawl requests that its probe fulfils. */
  requests: Set<CrawlRequestKind>
}

/** `sweep` is null if the range was leased only for crawl requests. */
export type HeldRange = {
  lease: Lease
  /** Until when the lease is certainly valid, in milliseconds of the monotonic clock. */
  leasedUntil: number
  openCandidates: Set<LeasedCandidate>
  sweep: SweepProgress | null
  /** Whether names of the range are being read. */
  isReading: boolean
}

/**
 * `slotsRead` slots were read, starting at slot `first` of the range and wrapping around. `tookMs`: their total time.
 */
type SweepProgress = {
  first: number
  slotsRead: number
  tookMs: number
  count: SlotCount
  places: PlaceSweep
  /** Whether due names were returned to their slots. */
  hasReturned: boolean
  /** Whether the queue had no space for some of them. */
  hasOverflowed: boolean
}

/** The minimum and maximum of seconds until the next sweep of a range. */
export type SweepInterval = { min: number; max: number }

/** Reading a range takes at most one part in this many of the time. */
const SWEEP_TIME_SHARE = 100

/**
 * Starts at slot `first`, 0 to 255. It differs each time, so that a lack of time does not always delay the same names.
 * `placeLimit`: as for `startPlaceSweep`.
 */
export function startSweep(heldRange: HeldRange, first: number, placeLimit?: number): void {
  heldRange.sweep = {
    first,
    slotsRead: 0,
    tookMs: 0,
    count: EMPTY_SWEEP_COUNT,
    places: startPlaceSweep(placeLimit),
    hasReturned: false,
    hasOverflowed: false,
  }
}

/** The next slots to read, inclusive, at most `maxSlots` of them. Returns null if all were read. */
export function nextSlots({ lease, sweep }: HeldRange, maxSlots: number): { from: number; to: number } | null {
  if (sweep === null || sweep.slotsRead >= SLOTS_PER_RANGE) return null
  const offset = (sweep.first + sweep.slotsRead) % SLOTS_PER_RANGE
  const length = Math.min(maxSlots, SLOTS_PER_RANGE - sweep.slotsRead, SLOTS_PER_RANGE - offset)
  const from = lease.range * SLOTS_PER_RANGE + offset
  return { from, to: from + length - 1 }
}

/** Whether the sweep is complete and no candidate is left. */
export function isRangeDone({ openCandidates, sweep }: HeldRange): boolean {
  return openCandidates.size === 0 && (sweep === null || sweep.slotsRead >= SLOTS_PER_RANGE)
}

/** The result of the sweep for the release of the range. Returns null if the sweep is incomplete. */
export function finishedSweep({ sweep }: HeldRange, now: Instant, { min, max }: SweepInterval): RangeSweep | null {
  if (sweep === null || sweep.slotsRead < SLOTS_PER_RANGE) return null
  const { count, tookMs, hasReturned } = sweep
  if (hasReturned) return { nextSweep: now, count }
  const intervalSeconds = Math.max(min, Math.ceil((SWEEP_TIME_SHARE * tookMs) / 1000))
  return { nextSweep: Math.max(now + intervalSeconds, Math.min(count.next ?? now + max, now + max)), count }
}
