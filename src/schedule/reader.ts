/** Reads the slots of leased ranges piece by piece, and lets in the names that are due. */

import { RANGE_SLOTS } from '../words/name.ts'
import { admit, leaveOut } from './admission.ts'
import { plus } from './count.ts'
import { beginSweep, type Held, nextSlots } from './range.ts'
import { LOW } from './room.ts'
import type { Span } from './span.ts'
import type { Kind } from './turns.ts'

/** Ranges that are leased at once. */
const RANGES = 4
/** Where nobody has to wait for names, reading them takes one part in so many of the time. */
const SHARE = 20
/** What a piece is to take, in milliseconds, and the names that are to come of it, both roughly. */
const PIECE_MILLISECONDS = 50
const PIECE_NAMES = 4_000
/** `gained`: names that came in of those kinds that were low. */
type Piece = { slots: number; took: number; due: number; gained: number }

/** The kinds of turns that are read from slots. */
const READ = ['fresh', 'due'] as const

export async function readOn(span: Span): Promise<void> {
  const leased: Held[] = []
  let reading: Held | null = null
  let most = 1
  const { clock, times } = span.crawl
  let look = clock.ticks()
  while (!span.isEnding) {
    if (lowKinds(span).length === 0) await span.need.wait(times.look)
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
      if (wasInVain(span, piece)) look = clock.ticks() + Math.max(piece.took * (SHARE - 1), times.look)
      else await span.need.wait(restAfter(piece))
    }
  }
}

function lowKinds({ room }: Span): Kind[] {
  return READ.filter((kind) => room.waiting(kind) < LOW)
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
  const low = lowKinds(span)
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
  const gained = low.reduce((sum, kind) => sum + (admitted.get(kind) ?? 0), 0)
  return { slots: to - from + 1, took, due: visits.length, gained }
}

/** Slots of the next piece, so that it takes neither too long nor too short. */
export function nextLength(most: number, { slots, took, due }: Piece): number {
  if (took > 2 * PIECE_MILLISECONDS || due > 2 * PIECE_NAMES) return Math.max(1, Math.floor(slots / 2))
  const isShort = took < PIECE_MILLISECONDS / 2 && due < PIECE_NAMES / 2
  return isShort ? Math.min(2 * most, RANGE_SLOTS) : most
}

/** Whether names were found and find no turn: then reading rests, whoever is wanted. */
function wasInVain({ tide }: Span, { due, gained }: Piece): boolean {
  const isInVain = (due > 0 && gained === 0) || tide.left > tide.begun
  tide.begun = 0
  tide.left = 0
  return isInVain
}

/** Milliseconds: none where names are wanted and found. */
function restAfter({ took, gained }: Piece): number {
  return gained > 0 ? 0 : took * (SHARE - 1)
}
