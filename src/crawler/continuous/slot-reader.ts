/** Reads the slots of leased ranges in chunks, and admits the due names. */

import { SLOTS_PER_RANGE } from '../../values/domain-name.ts'
import type { ProbeKind } from '../queue/kind-selector.ts'
import { REFILL_BELOW } from '../queue/ready-queue.ts'
import { addSweepCounts } from '../status/sweep-count.ts'
import { admitCandidates, withoutOptedOut } from './admission.ts'
import { type HeldRange, nextSlots, startSweep } from './held-range.ts'
import type { LeasedRanges } from './leased-ranges.ts'
import { nextPlaceLimit, withinPlaceLimit } from './list-places.ts'

/** Maximum of ranges leased at once. */
const RANGES_PER_LEASE = 4
/** If reading yields no names to probe, it uses one part in this many of the time. */
const READ_TIME_SHARE = 20
/** The targets for the duration of a chunk in milliseconds, and for its number of names. */
const TARGET_CHUNK_MS = 50
const TARGET_CHUNK_NAMES = 4_000
/**
 * `due`: due names that were read. `offered`: without those beyond the limit of places. `admitted`: of the kinds that
 * were low.
 */
type SlotChunk = { slots: number; tookMs: number; due: number; offered: number; admitted: number }

/** The kinds that are read from slots. */
const SLOT_KINDS = ['new', 'due'] as const

export async function readSlots(ranges: LeasedRanges): Promise<void> {
  const { session } = ranges
  const leased: HeldRange[] = []
  let reading: HeldRange | null = null
  let maxSlots = 1
  const { clock, timings } = ranges.crawl
  let nextPollAt = clock.monotonicMs()
  while (!session.isEnding) {
    if (kindsRunningLow(ranges).length === 0) await session.namesNeeded.wait(timings.pollMs)
    else if (nextPollAt > clock.monotonicMs()) await session.namesNeeded.wait(nextPollAt - clock.monotonicMs())
    else if (reading === null || !ranges.isHeld(reading)) {
      reading = await nextSweepRange(ranges, leased)
      if (reading === null) nextPollAt = clock.monotonicMs() + timings.pollMs
    } else {
      const chunk = await readChunk(ranges, reading, maxSlots)
      maxSlots = nextChunkLength(maxSlots, chunk)
      if (reading.sweep!.slotsRead >= SLOTS_PER_RANGE) {
        endReading(ranges, reading)
        reading = null
        await ranges.release()
      }
      if (isFruitless(ranges, chunk))
        nextPollAt = clock.monotonicMs() + Math.max(chunk.tookMs * (READ_TIME_SHARE - 1), timings.pollMs)
      else await session.namesNeeded.wait(pauseAfterChunk(chunk))
    }
  }
}

function kindsRunningLow({ session: { queue } }: LeasedRanges): ProbeKind[] {
  return SLOT_KINDS.filter((kind) => queue.waitingCount(kind) < REFILL_BELOW)
}

/** Returns the next leased range, or leases ranges that are due. Returns null if there is none. */
async function nextSweepRange(ranges: LeasedRanges, leased: HeldRange[]): Promise<HeldRange | null> {
  if (leased.length === 0) leased.push(...(await ranges.lease(RANGES_PER_LEASE)))
  const next = leased.shift() ?? null
  if (next === null || !ranges.isHeld(next)) return null
  const placeLimit = ranges.memory.placeLimits.get(next.lease.range)
  startSweep(next, Math.floor(ranges.crawl.random() * SLOTS_PER_RANGE), placeLimit)
  return next
}

/** If the queue had no space for some names, the next sweep has the same limit of places. */
function endReading({ memory: { placeLimits } }: LeasedRanges, range: HeldRange): void {
  range.isReading = false
  const { places, hasOverflowed } = range.sweep!
  if (places.next !== null) range.sweep!.hasReturned = true
  const next = hasOverflowed ? places.limit : nextPlaceLimit(places)
  if (next === null) placeLimits.delete(range.lease.range)
  else placeLimits.set(range.lease.range, next)
}

async function readChunk(ranges: LeasedRanges, range: HeldRange, maxSlots: number): Promise<SlotChunk> {
  const { clock, store } = ranges.crawl
  const { from, to } = nextSlots(range, maxSlots)!
  const startedAt = clock.monotonicMs()
  const low = kindsRunningLow(ranges)
  const at = await store.now()
  const { states, count } = await store.schedule.due(from, to, at)
  const offered = withinPlaceLimit(range.sweep!.places, states)
  const eligible = await withoutOptedOut(ranges, offered, at)
  const admittedByKind = await admitCandidates(
    ranges,
    eligible.map((state) => ({ state, range, requestKind: null, readAt: at })),
  )
  const tookMs = clock.monotonicMs() - startedAt
  const sweep = range.sweep!
  sweep.count = addSweepCounts(sweep.count, count)
  sweep.slotsRead += to - from + 1
  sweep.tookMs += tookMs
  const admitted = low.reduce((sum, kind) => sum + (admittedByKind.get(kind) ?? 0), 0)
  return { slots: to - from + 1, tookMs, due: states.length, offered: offered.length, admitted }
}

/** The number of slots in the next chunk, so that it takes neither too long nor too short. */
export function nextChunkLength(
  currentLength: number,
  { slots, tookMs, due }: Pick<SlotChunk, 'slots' | 'tookMs' | 'due'>,
): number {
  if (tookMs > 2 * TARGET_CHUNK_MS || due > 2 * TARGET_CHUNK_NAMES) return Math.max(1, Math.floor(slots / 2))
  const isShort = tookMs < TARGET_CHUNK_MS / 2 && due < TARGET_CHUNK_NAMES / 2
  return isShort ? Math.min(2 * currentLength, SLOTS_PER_RANGE) : currentLength
}

/** Whether due names were found but could not be probed. Reading then pauses even if names are needed. */
function isFruitless({ sinceLastRead }: LeasedRanges, { offered, admitted }: SlotChunk): boolean {
  const { started, rejected } = sinceLastRead
  Object.assign(sinceLastRead, { started: 0, rejected: 0 })
  return (offered > 0 && admitted === 0) || rejected > started
}

/** The pause in milliseconds. 0 if the chunk yielded needed names. */
function pauseAfterChunk({ tookMs, admitted }: SlotChunk): number {
  return admitted > 0 ? 0 : tookMs * (READ_TIME_SHARE - 1)
}
