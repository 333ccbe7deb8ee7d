/** What was looked up in this browser, newest first. It stays in the browser until it is cleared, or at sign-out. */

import { type PastedQuery, parsePastedQuery } from '../../../../src/values/pasted/pasted-query.ts'
import { createSignal } from '../../../client/signal.ts'

const MAX_RECENT = 12
const STORAGE_KEY = 'domaindex-recent'

export const recentQueries = createSignal<readonly PastedQuery[]>(readRecentQueries())

export function addRecentQuery(query: PastedQuery): void {
  const others = recentQueries.get().filter(({ value }) => value !== query.value)
  keepRecentQueries([query, ...others].slice(0, MAX_RECENT))
}

export function forgetRecentQueries(): void {
  keepRecentQueries([])
}

function keepRecentQueries(queries: readonly PastedQuery[]): void {
  recentQueries.set(queries)
  try {
    window.localStorage.setItem(STORAGE_KEY, queries.map(({ value }) => value).join(' '))
  } catch {} // the browser keeps nothing: they stay in memory
}

function readRecentQueries(): PastedQuery[] {
  try {
    const values = window.localStorage.getItem(STORAGE_KEY)?.split(' ') ?? []
    return values.map(parsePastedQuery).filter((query) => query !== null)
  } catch {
    return []
  }
}
