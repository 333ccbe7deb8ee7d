/** Checks the listing: every known name is listed or pending, and no other name is. */

import type { DatabaseSync } from 'node:sqlite'
import type { CheckFault } from '../../../port/store.ts'
import { type CheckSlice, checkSlice, problemReporter } from '../../../shared/check/slice.ts'

/** Names per unit of `limit`. Each query for unlisted names scans all pending names, so a larger slice is cheaper. */
const NAMES_PER_LIMIT = 40

type KnownName = { slot: number; name: string; known: number; listed: number }
type SortedName = { name: string; known: number }
type PendingNameRow = { position: number; name: string; known: number; isForgotten: number; departed: number }

/** Every known name is listed or pending, unless it was forgotten. */
export function checkKnownNames(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [slot, name] = after === null ? [-1, ''] : (JSON.parse(after) as [number, string])
  const rows = database
    .prepare(
      `select slot, name, id is not 0 as known, exists (select 1 from sorted_name l where l.name = v.name) as listed
       from crawl_state v where (slot, name) > (?, ?) order by slot, name limit ?`,
    )
    .all(slot, name, limit === 1 ? 1 : NAMES_PER_LIMIT * limit) as KnownName[]
  const missing = rows.filter(({ known, listed }) => known && !listed).map((row) => row.name)
  const pending = pendingAmong(database, missing)
  const faults: CheckFault[] = []
  for (const name of missing) if (!pending.has(name)) problemReporter(faults, 'crawl_state', name)('is not listed')
  for (const { name, known, listed } of rows)
    if (listed && !known) problemReporter(faults, 'sorted_name', name)('was forgotten')
  const last = rows.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify([last.slot, last.name]))
}

function pendingAmong(database: DatabaseSync, names: readonly string[]): Set<string> {
  if (names.length === 0) return new Set()
  const readPending = database.prepare('select name from pending_name where name in (select value from json_each(?))')
  return new Set((readPending.all(JSON.stringify(names)) as { name: string }[]).map(({ name }) => name))
}

/** Listed names are known. */
export function checkSortedNames(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [from] = after === null ? [''] : (JSON.parse(after) as [string])
  const rows = database
    .prepare(
      `select l.name, v.name is not null as known from sorted_name l
       left join crawl_state v on v.slot = slot(l.name) and v.name = l.name where l.name > ? order by l.name limit ?`,
    )
    .all(from, limit) as SortedName[]
  const faults: CheckFault[] = []
  for (const { name, known } of rows) if (!known) problemReporter(faults, 'sorted_name', name)('is unknown')
  const last = rows.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify([last.name]))
}

/** Pending names are known, or were forgotten and will be skipped. */
export function checkPendingNames(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [from] = after === null ? [0] : (JSON.parse(after) as [number])
  const rows = database
    .prepare(
      `select a.position, a.name, v.name is not null as known, v.id is 0 as isForgotten,
         exists (select 1 from pending_removal d where d.name = a.name and d.position >= a.position) as departed
       from pending_name a left join crawl_state v on v.slot = slot(a.name) and v.name = a.name
       where a.position > ? order by a.position limit ?`,
    )
    .all(from, limit) as PendingNameRow[]
  const faults: CheckFault[] = []
  for (const { name, known, isForgotten, departed } of rows) {
    if (!known) problemReporter(faults, 'pending_name', name)('is unknown')
    if (isForgotten && !departed) problemReporter(faults, 'pending_name', name)('was forgotten')
  }
  const last = rows.at(-1)
  return checkSlice(faults, rows.length, last && JSON.stringify([last.position]))
}
