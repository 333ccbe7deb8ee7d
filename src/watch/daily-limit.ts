/** The limit on the events of an account per day: a watch such as *shop* matches a large part of a zone. Pure. */

import type { DomainName } from '../values/domain-name.ts'
import type { Instant } from '../values/time.ts'
import type { WatchEvent } from './watch-event.ts'

/** Maximum of events that an account gets per UTC day. Then one event says that further ones were left out. */
export const MAX_DAILY_EVENTS = 100_000

/** An event to store. `watch`: null for an event about the account. `differences`: JSON. */
export type NewEvent = {
  account: number
  watch: number | null
  name: DomainName | null
  observed_at: Instant | null
  differences: string
}

const LIMIT_DIFFERENCES = JSON.stringify([{ type: 'limit', events: MAX_DAILY_EVENTS }])

/**
 * Returns the events to store, and the new counts of their accounts. `counts`: the events of these accounts on this day,
 * the one about the limit included.
 */
export function withinDailyLimit(
  events: readonly WatchEvent[],
  counts: ReadonlyMap<number, number>,
): { stored: NewEvent[]; counts: Map<number, number> } {
  const stored: NewEvent[] = []
  const counted = new Map<number, number>()
  for (const { differences, ...event } of events) {
    const { account } = event
    const count = counted.get(account) ?? counts.get(account) ?? 0
    if (count > MAX_DAILY_EVENTS) continue
    counted.set(account, count + 1)
    if (count < MAX_DAILY_EVENTS) stored.push({ ...event, differences: JSON.stringify(differences) })
    else stored.push({ account, watch: null, name: null, observed_at: null, differences: LIMIT_DIFFERENCES })
  }
  return { stored, counts: counted }
}
