/** Fresh names: known, but never probed. A list gives its names places, which order their first probes. Pure. */

import type { Instant } from '../values/time.ts'
import type { Change } from './change.ts'
import type { CrawlState } from './crawl-state.ts'

/**
 * The last place in a list, which is also the last due time that stands for one (before the year 2000): 1 is the first
 * place. A due time of 0 stands for none: such a name is probed as soon as possible.
 */
export const LAST_LIST_PLACE = 946_684_799

/** The due time that stands for a place in a list, from 1; 0 for none. Such a name is due at once. */
function dueTimeOfPlace(place: number): Instant {
  return Math.min(place, LAST_LIST_PLACE)
}

/**
 * Returns the write that adds an unknown name. `place`: in its list, from 1; 0 for none. `registered`: the day on which it
 * was registered, as in a CrawlState. It is due at once.
 */
export function freshNameChange(state: CrawlState, place = 0, registered: number | null = null): Change {
  return { state: { ...state, due: dueTimeOfPlace(place), registered }, facts: null }
}

/** Whether a change only adds an unknown name. It records no probe, so it needs no lease. */
export function isFreshNameChange({ state, facts }: Change): boolean {
  return facts === null && state.version === 0 && state.clocks.every((clock) => clock === 0)
}

/** Returns the place in its list for which the due time of a name stands, or 0 if it has none. */
export function listPlaceOf({ due }: Pick<CrawlState, 'due'>): number {
  return due <= LAST_LIST_PLACE ? due : 0
}
