/** Reads the slots of leased ranges piece by piece, and lets in the names that are due. */

import { RANGE_SLOTS } from '../../values/domain-name.ts'
import type { CrawlSession } from '../session.ts'
import { addSweepCounts } from '../status/sweep-count.ts'
import { admitCandidates, withoutOptedOut } from './admission.ts'
import { type HeldRange, nextSlots, startSweep } from './held-range.ts'
import type { ProbeKind } from './kind-selector.ts'
import { REFILL_BELOW } from './ready-queue.ts'

/** Ranges that are leased at once. */
const RANGES_PER_LEASE = 4
/** Where nobody has to wait for names, reading them takes one part in so many of the time. */
const READ_TIME_SHARE = 20
/** What a piece is to take, in milliseconds, and the names that are to come of it, both roughly. */
const TARGET_CHUNK_MS = 50
const TARGET_CHUNK_NAMES = 4_000
/** `gained`: names that came in of those kinds that were low. */
type SlotChunk = { slots: number; tookMs: number; due: number; admitted: number }

/** The kinds of turns that are read from slots. */
const SLOT_KINDS = ['new', 'due'] as const

export async function readSlots(session: CrawlSession): Promise<void> {
  const leased: HeldRange[] = []
  let reading: HeldRange | null = null
  let maxSlots = 1
  const { clock, timings } = session.dependencies
  let nextPollAt = clock.monotonicMs()
  while (!session.isEnding) {
    if (kindsRunningLow(session).length === 0) await session.namesNeeded.wait(timings.pollMs)
    else if (nextPollAt > clock.monotonicMs()) await session.namesNeeded.wait(nextPollAt - clock.monotonicMs())
    else if (reading === null || !isRangeHeld(session, reading)) {
      reading = await nextSweepRange(session, leased)
      if (reading === null) nextPollAt = clock.monotonicMs() + timings.pollMs
    } else {
      const chunk = await readChunk(session, reading, maxSlots)
      maxSlots = nextChunkLength(maxSlots, chunk)
      if (reading.sweep!.slotsRead >= RANGE_SLOTS) {
        reading.isReading = false
        reading = null
        await session.release()
      }
      if (admittedNothing(session, chunk))
        nextPollAt = clock.monotonicMs() + Math.max(chunk.tookMs * (READ_TIME_SHARE - 1), timings.pollMs)
      else await session.namesNeeded.wait(pauseAfterChunk(chunk))
    }
  }
}

function kindsRunningLow({ queue }: CrawlSession): ProbeKind[] {
  return SLOT_KINDS.filter((kind) => queue.waitingCount(kind) < REFILL_BELOW)
}

function isRangeHeld({ heldRanges: held }: CrawlSession, range: HeldRange): boolean {
  return held.get(range.lease.range) === range
}

/** The next one of those leased, or of those that are due now; null where there is none. */
async function nextSweepRange(session: CrawlSession, leased: HeldRange[]): Promise<HeldRange | null> {
  if (leased.length === 0) leased.push(...(await session.lease(RANGES_PER_LEASE)))
  const next = leased.shift() ?? null
  if (next === null || !isRangeHeld(session, next)) return null
  startSweep(next, Math.floor(session.dependencies.random() * RANGE_SLOTS))
  return next
}

async function readChunk(session: CrawlSession, range: HeldRange, maxSlots: number): Promise<SlotChunk> {
  const { clock, store } = session.dependencies
  const { from, to } = nextSlots(range, maxSlots)!
  const startedAt = clock.monotonicMs()
  const low = kindsRunningLow(session)
  const at = await store.now()
  const { visits: states, count } = await store.schedule.due(from, to, at)
  const wanted = await withoutOptedOut(session, states, at)
  const admitted = await admitCandidates(
    session,
    wanted.map((state) => ({ state: state, range, requestKind: null, readAt: at })),
  )
  const took = clock.monotonicMs() - startedAt
  const sweep = range.sweep!
  sweep.count = addSweepCounts(sweep.count, count)
  sweep.slotsRead += to - from + 1
  sweep.tookMs += took
  const gained = low.reduce((sum, kind) => sum + (admitted.get(kind) ?? 0), 0)
  return { slots: to - from + 1, tookMs: took, due: states.length, admitted: gained }
}

/** Slots of the next piece, so that it takes neither too long nor too short. */
export function nextChunkLength(currentLength: number, { slots, tookMs: took, due }: SlotChunk): number {
  if (took > 2 * TARGET_CHUNK_MS || due > 2 * TARGET_CHUNK_NAMES) return Math.max(1, Math.floor(slots / 2))
  const isShort = took < TARGET_CHUNK_MS / 2 && due < TARGET_CHUNK_NAMES / 2
  return isShort ? Math.min(2 * currentLength, RANGE_SLOTS) : currentLength
}

/** Whether names were found and find no turn: then reading rests, whoever is wanted. */
function admittedNothing({ sinceLastRead: recent }: CrawlSession, { due, admitted: gained }: SlotChunk): boolean {
  const isInVain = (due > 0 && gained === 0) || recent.rejected > recent.started
  recent.started = 0
  recent.rejected = 0
  return isInVain
}

/** Milliseconds: none where names are wanted and found. */
function pauseAfterChunk({ tookMs: took, admitted: gained }: SlotChunk): number {
  return gained > 0 ? 0 : took * (READ_TIME_SHARE - 1)
}
