/** A range of slots in a crawler's hands: the sweep of it, and the names of it that are not done yet. */

import type { CrawlState } from '../../apply/crawl-state.ts'
import type { RateLimitTargets } from '../../probe/policy/politeness-limiter.ts'
import type { CrawlRequestKind } from '../../store/port/crawl-requests.ts'
import type { Lease, RangeSweep, SlotCount } from '../../store/port/schedule.ts'
import { type DomainName, RANGE_SLOTS } from '../../values/domain-name.ts'
import type { Instant } from '../../values/time.ts'
import type { PriorState } from '../anomaly/prior-state.ts'
import { EMPTY_SWEEP_COUNT } from '../status/sweep-count.ts'
import type { ProbeKind } from './kind-selector.ts'

/** A name whose turn is to come, or that is being visited, or whose visit is not saved yet. */
export type Candidate = {
  name: DomainName
  state: CrawlState
  kind: ProbeKind
  prior: PriorState
  heldRange: HeldRange
  /** When it was read. */
  readAt: Instant
  /** Where its visit goes, as far as is known. */
  targets: RateLimitTargets
  /** The wishes that its visit fulfils. */
  requests: Set<CrawlRequestKind>
}

/** `sweep` is null for a range that was leased for wishes alone. */
export type HeldRange = {
  lease: Lease
  /** Milliseconds of the clock that is never set, until when the lease stands for certain. */
  leasedUntil: number
  openCandidates: Set<Candidate>
  sweep: SweepProgress | null
  /** Names of it are just being read. */
  isReading: boolean
}

/** `read` slots were read, from the slot `first` of the range on and round; `took` milliseconds in all. */
type SweepProgress = {
  first: number
  slotsRead: number
  tookMs: number
  count: SlotCount
  /** Names that were due were put back to their slots. */
  hasReturned: boolean
}

/** When a range is swept again, in seconds: after `least` at least, and after `most` at most. */
export type SweepInterval = { min: number; max: number }

/** A range is read a hundredth of the time at most. */
const SWEEP_TIME_SHARE = 100

/** Begins at `first`, 0 to 255: another slot each time, so that where time is short it is not always the same names that wait. */
export function startSweep(held: HeldRange, first: number): void {
  held.sweep = { first, slotsRead: 0, tookMs: 0, count: EMPTY_SWEEP_COUNT, hasReturned: false }
}

/** The next slots to be read, inclusive, at most `most` of them; null where all were. */
export function nextSlots({ lease, sweep }: HeldRange, maxSlots: number): { from: number; to: number } | null {
  if (sweep === null || sweep.slotsRead >= RANGE_SLOTS) return null
  const place = (sweep.first + sweep.slotsRead) % RANGE_SLOTS
  const length = Math.min(maxSlots, RANGE_SLOTS - sweep.slotsRead, RANGE_SLOTS - place)
  const from = lease.range * RANGE_SLOTS + place
  return { from, to: from + length - 1 }
}

/** True where nothing is left to be done with it. */
export function isRangeDone({ openCandidates: open, sweep }: HeldRange): boolean {
  return open.size === 0 && (sweep === null || sweep.slotsRead >= RANGE_SLOTS)
}

/** What is told when it is given back; null where it was not swept whole. */
export function finishedSweep(
  { sweep }: HeldRange,
  now: Instant,
  { min: least, max: most }: SweepInterval,
): RangeSweep | null {
  if (sweep === null || sweep.slotsRead < RANGE_SLOTS) return null
  const { count, tookMs: took, hasReturned: isLeft } = sweep
  if (isLeft) return { nextSweep: now, count }
  const intervalSeconds = Math.max(least, Math.ceil((SWEEP_TIME_SHARE * took) / 1000))
  return { nextSweep: Math.max(now + intervalSeconds, Math.min(count.next ?? now + most, now + most)), count }
}
