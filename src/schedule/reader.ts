/** Reads the slots of leased ranges piece by piece, and lets in the names that are due. */

import { RANGE_SLOTS } from '../words/name.ts'
import { admit, leaveOut } from './admission.ts'
import { plus } from './count.ts'
import { beginSweep, type Held, nextSlots } from './range.ts'
import { isLow } from './room.ts'
import type { Span } from './span.ts'

/** Ranges that are leased at once. */
const RANGES = 4
/** Where names enough wait, reading takes one part in so many of the time. */
const SHARE = 20
/** What a piece is to take, in milliseconds, and the names that are to come of it, both roughly. */
const PIECE_MILLISECONDS = 50
const PIECE_NAMES = 4_000
/** Milliseconds until it is looked again whether there is room, and until names that found none are read again, at least. */
const FULL = 1_000
const IN_VAIN = 250

type Piece = { slots: number; took: number; due: number; admitted: number }

export async function readOn(span: Span): Promise<void> {
  const leased: Held[] = []
  let reading: Held | null = null
  let most = 1
  const { clock, times } = span.crawl
  let look = clock.ticks()
  while (!span.isEnding) {
    if (isFull(span)) await span.need.wait(FULL)
    else if (look > clock.ticks()) await span.need.wait(look - clock.ticks())
    else if (reading === null || !isHeld(span, reading)) {
      reading = await nextRange(span, leased)
      if (reading === null) look = clock.ticks() + times.look
    } else {
      const piece = await readPiece(span, reading, most)
      most = nextLength(most, piece)
      if (reading.sweep!.read >= RANGE_SLOTS) {
        reading.isBusy = false
        reading = null
        await span.release()
      }
      await span.need.wait(restAfter(span, piece))
    }
  }
}

function isFull({ room }: Span): boolean {
  return room.free('fresh') <= 0 && room.free('due') <= 0
}

function isHeld({ held }: Span, range: Held): boolean {
  return held.get(range.lease.range) === range
}

/** The next one of those leased, or of those that are due now; null where there is none. */
async function nextRange(span: Span, leased: Held[]): Promise<Held | null> {
  if (leased.length === 0) leased.push(...(await span.lease(RANGES)))
  const next = leased.shift() ?? null
  if (next === null || !isHeld(span, next)) return null
  beginSweep(next, Math.floor(span.crawl.random() * RANGE_SLOTS))
  return next
}

async function readPiece(span: Span, range: Held, most: number): Promise<Piece> {
  const { clock, store } = span.crawl
  const { from, to } = nextSlots(range, most)!
  const begun = clock.ticks()
  const at = await store.now()
  const { visits, count } = await store.schedule.due(from, to, at)
  const wanted = await leaveOut(span, visits, at)
  const admitted = await admit(
    span,
    wanted.map((visit) => ({ visit, range, wish: null, read: at })),
  )
  const took = clock.ticks() - begun
  const sweep = range.sweep!
  sweep.count = plus(sweep.count, count)
  sweep.read += to - from + 1
  sweep.took += took
  return { slots: to - from + 1, took, due: visits.length, admitted }
}

/** Slots of the next piece, so that it takes neither too long nor too short. */
export function nextLength(most: number, { slots, took, due }: Piece): number {
  if (took > 2 * PIECE_MILLISECONDS || due > 2 * PIECE_NAMES) return Math.max(1, Math.floor(slots / 2))
  const isShort = took < PIECE_MILLISECONDS / 2 && due < PIECE_NAMES / 2
  return isShort ? Math.min(2 * most, RANGE_SLOTS) : most
}

/** Milliseconds: none where few names wait, and those that came in find their turn. */
function restAfter({ room, tide }: Span, { took, due, admitted }: Piece): number {
  const isInVain = (due > 0 && admitted === 0) || tide.left > tide.begun
  const isWanted = isLow(room) && admitted > 0
  tide.begun = 0
  tide.left = 0
  const rest = isWanted && !isInVain ? 0 : took * (SHARE - 1)
  return isInVain ? Math.max(rest, IN_VAIN) : rest
}
