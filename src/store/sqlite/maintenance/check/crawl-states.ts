/** Checks crawl states: each row is in the slot of its name, and its id is that of the facts of its name. */

import type { DatabaseSync } from 'node:sqlite'
import { type CheckedCrawlState, checkCrawlStateRows } from '../../../shared/check/rows.ts'
import type { CheckSlice } from '../../../shared/check/slice.ts'

export function checkCrawlStatesSqlite(database: DatabaseSync, after: string | null, limit: number): CheckSlice {
  const [slot, name] = after === null ? [-1, ''] : (JSON.parse(after) as [number, string])
  const rows = database
    .prepare(
      `select v.slot, v.name, v.id, f.name as owner from crawl_state v left join facts f on f.id = v.id
       where (v.slot, v.name) > (?, ?) order by v.slot, v.name limit ?`,
    )
    .all(slot, name, limit)
  return checkCrawlStateRows(rows as CheckedCrawlState[])
}
