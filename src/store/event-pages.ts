/** Walks over all events of an account, page by page. */

import type { Store } from './port/store.ts'
import type { StoredEvent } from './port/watch/events.ts'

/** Events that are read at once. */
const PAGE_EVENTS = 1_000

/** Oldest first. */
export async function* eventPages(
  events: Pick<Store['events'], 'events'>,
  account: number,
): AsyncGenerator<StoredEvent[]> {
  for (let after = 0; ; ) {
    const page = await events.events(account, after, PAGE_EVENTS)
    yield page
    if (page.length < PAGE_EVENTS) return
    after = page.at(-1)!.number
  }
}
