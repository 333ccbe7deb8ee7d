/**
 * The order of first probes within lists. Each sweep of a range admits names up to a place (`limit`), and the next sweep
 * goes further. So first probes leave the order of a list by a quarter of their place at most, or by STEP_PLACES. Pure.
 */

import type { CrawlState } from '../../apply/crawl-state.ts'
import { listPlaceOf } from '../../apply/fresh-name.ts'

/** `admitted`: names with a place that were due in this sweep. `next`: the first place beyond the limit, if any. */
export type PlaceSweep = { limit: number; admitted: number; next: number | null }

const STEP_PLACES = 10_000
const STEP_FACTOR = 1.25

/** `limit`: what `nextPlaceLimit` returned for the former sweep of the range, if there was one. */
export function startPlaceSweep(limit: number | undefined): PlaceSweep {
  return { limit: limit ?? STEP_PLACES, admitted: 0, next: null }
}

/** Returns the names up to the limit, in the order of their places. */
export function withinPlaceLimit(sweep: PlaceSweep, states: readonly CrawlState[]): CrawlState[] {
  const within: CrawlState[] = []
  for (const state of states) {
    const place = listPlaceOf(state)
    if (place > sweep.limit) sweep.next = Math.min(sweep.next ?? place, place)
    else within.push(state)
    if (place > 0 && place <= sweep.limit) sweep.admitted++
  }
  return sweep.admitted === 0 ? within : within.sort((a, b) => listPlaceOf(a) - listPlaceOf(b))
}

/**
 * Returns the limit of the next sweep of the range, or null if no place is left. If this sweep admitted none, the next
 * one begins at the first place that is left.
 */
export function nextPlaceLimit({ limit, admitted, next }: PlaceSweep): number | null {
  if (next === null) return null
  const from = admitted === 0 ? Math.max(limit, next) : limit
  return Math.max(from + STEP_PLACES, Math.floor(from * STEP_FACTOR))
}
