/** The states of the website's verdict: when one follows another, and what the inverse index learns of it. Pure. */

import type { SetChange } from '../inverse/entries/record-events.ts'
import type { Instant } from '../values/time.ts'
import { encodeVerdict, finalHostOf, type WebVerdict } from '../values/web-verdict.ts'
import type { SupersededState } from './change.ts'
import type { FurtherState, NewestStates } from './crawl-state.ts'
import { countAfterState } from './dns-state.ts'

/** The newest state after a change of the web facts, and what follows from the change. */
export type WebStateChange = { state: FurtherState; superseded: SupersededState[]; sets: SetChange[] }

/** What is known of the website. */
type KnownWeb = { web: WebVerdict | null; states: Pick<NewestStates, 'web'> }

/**
 * The newest state of the verdict; undefined if the web was never observed. A row of an older release has none: its
 * verdict counts as first seen when the web was last observed, and as never seen if only a certificate was.
 */
export function webStateOf({ web, states }: KnownWeb, clock: Instant): FurtherState | undefined {
  if (states.web !== undefined || web === null || clock === 0) return states.web
  return { first_seen: clock, count: 1 }
}

/** When the open state was last observed: a certificate moves no clock, and may have begun it. */
export function lastSeenOfWebState({ first_seen }: Pick<FurtherState, 'first_seen'>, clock: Instant): Instant {
  return Math.max(first_seen, clock)
}

/**
 * Returns the state after `web` was observed at `at`; null if the verdict stays the same. `clock`: when the web was last
 * observed before. States begin one after another: what is observed late, after a certificate of a later time, begins
 * a second after that one.
 */
export function webStateChange(current: KnownWeb, clock: Instant, web: WebVerdict, at: Instant): WebStateChange | null {
  const text = encodeVerdict(web)
  const known = webStateOf(current, clock)
  if (known === undefined || current.web === null) {
    const sets = finalHostOf(web) === null ? [] : [firstSet(text, at)]
    return { state: { first_seen: at, count: 1 }, superseded: [], sets }
  }
  const before = encodeVerdict(current.web)
  if (before === text) return null
  const last = lastSeenOfWebState(known, clock)
  const first_seen = Math.max(at, known.first_seen + 1)
  const sets: SetChange[] = []
  if (current.states.web === undefined && finalHostOf(current.web) !== null)
    sets.push(firstSet(before, known.first_seen))
  if (finalHostOf(current.web) !== finalHostOf(web))
    sets.push({ type: 'web', before, last, after: text, at: first_seen, isInterrupted: false })
  return {
    state: { first_seen, count: countAfterState(known) },
    superseded: [
      { type: 'web', first_seen: known.first_seen, last_confirmed: last, records: before, serial: null, base: null },
    ],
    sets,
  }
}

function firstSet(after: string, at: Instant): SetChange {
  return { type: 'web', before: undefined, last: 0, after, at, isInterrupted: false }
}
