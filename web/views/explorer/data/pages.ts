/** Rows that come in pages. Each page is loaded once, for one call, and stays in memory. */

import { useState } from 'preact/hooks'
import type { CallError } from '../../../client/http.ts'
import { keptBody, useLoaded } from '../../../client/loaded.ts'
import type { PagedBody } from './responses.ts'

export type Pages<Row> = {
  rows: Row[]
  /** The cursor of the next page; null if there is none. */
  next: string | null
  isLoading: boolean
  error: CallError | null
  more: () => void
  retry: () => void
}

/** The cursors of the pages that were opened. Going back to a view shows all of them again. */
const openedPages = new Map<string, string[]>()

/** `pathOf`: the path of a page by its cursor; null for the first one. `first`: the meta of the first page. */
export function usePages<Row>(pathOf: (cursor: string | null) => string) {
  const path = pathOf(null)
  const { loaded, retry } = useLoaded<PagedBody<Row>>(path)
  const further = useFurtherPages<Row, PagedBody<Row>>(path, loaded.body?.meta.next ?? null, pathOf, resultOf)
  return {
    ...further,
    rows: loaded.body === undefined ? null : [...loaded.body.result, ...further.rows],
    first: loaded.body?.meta ?? null,
    error: loaded.error ?? further.error,
    retry: loaded.state === 'failed' ? retry : further.retry,
  }
}

function resultOf<Row>({ result }: PagedBody<Row>): Row[] {
  return result
}

/**
 * The pages after the first one. `key`: names the list. `first`: the cursor of the first of them; null if there is
 * none. `rowsOf`: the rows of a page.
 */
export function useFurtherPages<Row, Body extends { meta: { next?: string | null } }>(
  key: string,
  first: string | null,
  pathOf: (cursor: string) => string,
  rowsOf: (body: Body) => Row[],
): Pages<Row> {
  const [cursors, setCursors] = useState(() => openedCursors(key, pathOf))
  const last = cursors.at(-1)
  const { loaded, retry } = useLoaded<Body>(last === undefined ? null : pathOf(last))
  const bodies = cursors.slice(0, -1).map((cursor) => keptBody<Body>(pathOf(cursor))!)
  if (loaded.body !== undefined) bodies.push(loaded.body)
  const isLoading = last !== undefined && loaded.state === 'loading'
  const next = last === undefined ? first : (loaded.body?.meta.next ?? (isLoading ? last : null))
  const more = (): void => {
    if (next === null) return
    openedPages.set(key, [...cursors, next])
    setCursors([...cursors, next])
  }
  return { rows: bodies.flatMap(rowsOf), next, isLoading, error: loaded.error ?? null, more, retry }
}

/** The cursors of the pages that are still in memory. */
function openedCursors(key: string, pathOf: (cursor: string) => string): string[] {
  const opened = openedPages.get(key) ?? []
  return opened.every((cursor) => keptBody(pathOf(cursor)) !== undefined) ? opened : []
}
