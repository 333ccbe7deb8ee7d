/** What was looked up in this visit, newest first. It stays in memory. */

import type { PastedQuery } from '../../../../src/values/pasted-query.ts'
import { createSignal } from '../../../client/signal.ts'

const MAX_RECENT = 12

export const recentQueries = createSignal<readonly PastedQuery[]>([])

export function addRecentQuery(query: PastedQuery): void {
  const others = recentQueries.get().filter(({ value }) => value !== query.value)
  recentQueries.set([query, ...others].slice(0, MAX_RECENT))
}
