/** A range of slots in a crawler's hands: the sweep of it, and the names of it that are not done yet. */

import type { Visit } from '../apply/known.ts'
import type { Places } from '../crawl/pace.ts'
import type { Count, Lease, Sweep } from '../store/schedule.ts'
import type { WishKind } from '../store/wishes.ts'
import { type Name, RANGE_SLOTS } from '../words/name.ts'
import type { Instant } from '../words/time.ts'
import { NOTHING } from './count.ts'
import type { Past } from './past.ts'
import type { Kind } from './turns.ts'

/** A name whose turn is to come, or that is being visited, or whose visit is not saved yet. */
export type Candidate = {
  name: Name
  visit: Visit
  kind: Kind
  past: Past
  range: Held
  /** When it was read. */
  read: Instant
  /** Where its visit goes, as far as is known. */
  places: Places
  /** The wishes that its visit fulfils. */
  wishes: Set<WishKind>
}

/** `sweep` is null for a range that was leased for wishes alone. */
export type Held = {
  lease: Lease
  /** Milliseconds of the clock that is never set, until when the lease stands for certain. */
  until: number
  open: Set<Candidate>
  sweep: Sweeping | null
  /** Names of it are just being read. */
  isBusy: boolean
}

/** `read` slots were read, from the slot `first` of the range on and round; `took` milliseconds in all. */
type Sweeping = {
  first: number
  read: number
  took: number
  count: Count
  /** Names that were due were put back to their slots. */
  isLeft: boolean
}

/** When a range is swept again, in seconds: after `least` at least, and after `most` at most. */
export type SweepTimes = { least: number; most: number }

/** A range is read a hundredth of the time at most. */
const SHARE = 100

/** Begins at `first`, 0 to 255: another slot each time, so that where time is short it is not always the same names that wait. */
export function beginSweep(held: Held, first: number): void {
  held.sweep = { first, read: 0, took: 0, count: NOTHING, isLeft: false }
}

/** The next slots to be read, inclusive, at most `most` of them; null where all were. */
export function nextSlots({ lease, sweep }: Held, most: number): { from: number; to: number } | null {
  if (sweep === null || sweep.read >= RANGE_SLOTS) return null
  const place = (sweep.first + sweep.read) % RANGE_SLOTS
  const length = Math.min(most, RANGE_SLOTS - sweep.read, RANGE_SLOTS - place)
  const from = lease.range * RANGE_SLOTS + place
  return { from, to: from + length - 1 }
}

/** True where nothing is left to be done with it. */
export function isDone({ open, sweep }: Held): boolean {
  return open.size === 0 && (sweep === null || sweep.read >= RANGE_SLOTS)
}

/** What is told when it is given back; null where it was not swept whole. */
export function sweepOf({ sweep }: Held, now: Instant, { least, most }: SweepTimes): Sweep | null {
  if (sweep === null || sweep.read < RANGE_SLOTS) return null
  const { count, took, isLeft } = sweep
  if (isLeft) return { next: now, count }
  const rest = Math.max(least, Math.ceil((SHARE * took) / 1000))
  return { next: Math.max(now + rest, Math.min(count.next ?? now + most, now + most)), count }
}
