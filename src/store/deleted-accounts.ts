/** Removes the events of accounts that were deleted. They are in the facts, which the ledger's transactions cannot change. */

import { eventPages } from './event-pages.ts'
import type { Store } from './port/store.ts'

/** Events that one transaction removes. */
const EVENTS_PER_REMOVAL = 1_000

/**
 * Returns how many events were removed, or with `isDry`, how many there are. It can be repeated, and removes what an earlier
 * call left.
 */
export async function removeEventsOfDeletedAccounts(
  { events, eventRemover, ledger }: Pick<Store, 'events' | 'eventRemover' | 'ledger'>,
  isDry = false,
): Promise<number> {
  let removed = 0
  for (const account of await events.accountsWithEvents(0, await events.lastEvent())) {
    if ((await ledger.accountById(account)) !== null) continue
    if (isDry) removed += await countEvents(events, account)
    else
      for (let count = EVENTS_PER_REMOVAL; count === EVENTS_PER_REMOVAL; removed += count)
        count = await eventRemover.removeEventsOfAccount(account, EVENTS_PER_REMOVAL)
  }
  return removed
}

async function countEvents(events: Store['events'], account: number): Promise<number> {
  let count = 0
  for await (const page of eventPages(events, account)) count += page.length
  return count
}
