/** The first state of a website that an older release stored: it begins when the web was last observed. */

import type { Clocks } from '../../apply/crawl-state.ts'
import { CLOCK_INDEX } from '../../apply/stored-numbers.ts'
import { webStateOf } from '../../apply/web-state.ts'
import { packStates, unpackStates, unpackVerdict } from '../shared/columns.ts'
import type { NewestStatesRow } from './name-events.ts'

/** Whether a name has a website and no state of it. */
export function lacksWebState(row: NewestStatesRow): boolean {
  return unpackVerdict(row.name, row) !== null && unpackStates(row.states).web === undefined
}

/** The stored states with that of the website; null if they have one, or if the web was never observed. */
export function withWebState(row: NewestStatesRow, clocks: Clocks): string | null {
  const states = unpackStates(row.states)
  const web = webStateOf({ web: unpackVerdict(row.name, row), states }, clocks[CLOCK_INDEX.web]!)
  return web === undefined || states.web !== undefined ? null : packStates({ ...states, web })
}
