/** The check of the listing: every name that is known is listed, or on its way there, and nothing else is. */

import type { DatabaseSync } from 'node:sqlite'
import type { CheckFault } from '../../../port/store.ts'
import { type CheckSlice, checkSlice, problemReporter } from '../../../shared/check/slice.ts'

/** Names looked at at once where so many may be: for those that are not listed yet, all that came since the last walk are gone through. */
const NAMES_PER_LIMIT = 40

type KnownName = { slot: number; name: string; known: number; listed: number }
type SortedName = { name: string; known: number }
type PendingNameRow = { position: number; name: string; known: number; isForgotten: number; departed: number }

/** Names, each of which is listed or came since the last walk, unless it was forgotten. */
export function checkKnownNames(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [slot, name] = after === null ? [-1, ''] : (JSON.parse(after) as [number, string])
  const rows = database
    .prepare(
      `select slot, name, id is not 0 as known, exists (select 1 from sorted_name l where l.name = v.name) as listed
       from crawl_state v where (slot, name) > (?, ?) order by slot, name limit ?`,
    )
    .all(slot, name, limit === 1 ? 1 : NAMES_PER_LIMIT * limit) as KnownName[]
  const missing = rows.filter(({ known, listed }) => known && !listed).map((row) => row.name)
  const coming = pendingAmong(database, missing)
  const faults: CheckFault[] = []
  for (const each of missing) if (!coming.has(each)) problemReporter(faults, 'crawl_state', each)('is not listed')
  for (const { name: each, known, listed } of rows)
    if (listed && !known) problemReporter(faults, 'sorted_name', each)('was forgotten')
  const last = rows.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify([last.slot, last.name]))
}

function pendingAmong(database: DatabaseSync, names: readonly string[]): Set<string> {
  if (names.length === 0) return new Set()
  const coming = database.prepare('select name from pending_name where name in (select value from json_each(?))')
  return new Set((coming.all(JSON.stringify(names)) as { name: string }[]).map(({ name }) => name))
}

/** What is listed. */
export function checkSortedNames(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const rows = database
    .prepare(
      `select l.name, v.name is not null as known from sorted_name l
       left join crawl_state v on v.slot = slot(l.name) and v.name = l.name where l.name > ? order by l.name limit ?`,
    )
    .all(after ?? '', limit) as SortedName[]
  const faults: CheckFault[] = []
  for (const { name, known } of rows) if (!known) problemReporter(faults, 'sorted_name', name)('is not known')
  return checkSlice(faults, rows.length, rows.at(-1)?.name)
}

/** What is on its way: names that are known, and such that were forgotten and will be left out. */
export function checkPendingNames(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const rows = database
    .prepare(
      `select a.position, a.name, v.name is not null as known, v.id is 0 as isForgotten,
         exists (select 1 from pending_removal d where d.name = a.name and d.position >= a.position) as departed
       from pending_name a left join crawl_state v on v.slot = slot(a.name) and v.name = a.name
       where a.position > ? order by a.position limit ?`,
    )
    .all(Number(after ?? 0), limit) as PendingNameRow[]
  const faults: CheckFault[] = []
  for (const { name, known, isForgotten, departed } of rows) {
    if (!known) problemReporter(faults, 'pending_name', name)('is not known')
    if (isForgotten && !departed) problemReporter(faults, 'pending_name', name)('was forgotten')
  }
  return checkSlice(faults, rows.length, rows.at(-1)?.position.toString())
}
