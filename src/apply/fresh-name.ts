/** Fresh names: known, but never probed. A list gives its names places, which order their first probes. Pure. */

import type { Change } from './change.ts'
import type { CrawlState } from './crawl-state.ts'

/**
 * The last place in a list. A due time up to here (before the year 2000) is a place: 1 is the first. A due time of 0 is
 * no place: such a name is probed as soon as possible.
 */
export const LAST_LIST_PLACE = 946_684_799

/** Returns the write that adds an unknown name. `place`: in its list, from 1; 0 for none. It is due at once. */
export function freshNameChange(state: CrawlState, place = 0): Change {
  return { state: { ...state, due: Math.min(place, LAST_LIST_PLACE) }, facts: null }
}

/** Whether a change only adds an unknown name. It records no probe, so it needs no lease. */
export function isFreshNameChange({ state, facts }: Change): boolean {
  return facts === null && state.version === 0 && state.clocks.every((clock) => clock === 0)
}

/** Returns the place of a name in its list, or 0 if it has none. */
export function listPlaceOf({ due }: Pick<CrawlState, 'due'>): number {
  return due <= LAST_LIST_PLACE ? due : 0
}
