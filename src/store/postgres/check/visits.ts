/** The check of the narrow rows: each lies in its slot and part, and its id is that of the facts of its name. */

import type { Name } from '../../../words/name.ts'
import { type CheckedVisit, checkedVisits } from '../../check/rows.ts'
import { SLICE, type Slice } from '../../check/slice.ts'
import type { Session } from '../writer.ts'

const VISITS = {
  name: 'check.visits',
  text: `select v.part, v.slot, v.name, v.id, f.name as owner from visit v left join facts f on f.part = v.part and f.id = v.id
    where (v.part, v.slot, v.name) > ($1, $2, $3) order by v.part, v.slot, v.name limit ${SLICE}`,
}

export async function checkVisits(session: Session, after: string | null): Promise<Slice> {
  const [slot, name, part] = after === null ? [-1, '', -1] : (JSON.parse(after) as [number, Name, number])
  const rows = await session.rows<CheckedVisit>(VISITS, [part, slot, name])
  return checkedVisits(rows.map((row) => ({ ...row, rightPart: row.slot >> 8 })))
}
