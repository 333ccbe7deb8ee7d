/** The check of the narrow rows: each lies in its slot, and its id is that of the facts of its name. */

import type { DatabaseSync } from 'node:sqlite'
import { type Name, slotOf } from '../../../words/name.ts'
import type { Fault } from '../../store.ts'
import { reporter, SLICE, type Slice, sliceOf } from './slice.ts'

/** `id` is null before the first fact, 0 for a tombstone; `owner` is whose facts lie under it. */
type Row = { slot: number; name: Name; id: number | null; owner: Name | null }

export function checkVisits(database: DatabaseSync, after: string | null): Slice {
  const [slot, name] = after === null ? [-1, ''] : (JSON.parse(after) as [number, string])
  const rows = database
    .prepare(
      `select v.slot, v.name, v.id, f.name as owner from visit v left join facts f on f.id = v.id
       where (v.slot, v.name) > (?, ?) order by v.slot, v.name limit ${SLICE}`,
    )
    .all(slot, name) as Row[]
  const faults: Fault[] = []
  for (const { slot, name, id, owner } of rows) {
    const report = reporter(faults, 'visit', name)
    if (slot !== slotOf(name)) report(`is filed in slot ${slot}`)
    if (id && owner !== name) report(owner === null ? 'has lost its facts' : `has the facts of ${owner}`)
  }
  const last = rows.at(-1)
  return sliceOf(faults, rows.length, last && JSON.stringify([last.slot, last.name]))
}
