/** What was looked up in this visit, newest first. It stays in memory. */

import { createSignal } from '../../../client/signal.ts'
import type { ExplorerQuery } from './parse-query.ts'

const MAX_RECENT = 12

export const recentQueries = createSignal<readonly ExplorerQuery[]>([])

export function addRecentQuery(query: ExplorerQuery): void {
  const others = recentQueries.get().filter(({ value }) => value !== query.value)
  recentQueries.set([query, ...others].slice(0, MAX_RECENT))
}
