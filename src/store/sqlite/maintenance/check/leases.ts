/** The check of leases: each range of slots has its row, without which the names in it would never be visited again. */

import type { DatabaseSync } from 'node:sqlite'
import { SLOT_RANGES } from '../../../../values/domain-name.ts'
import type { CheckFault } from '../../../port/store.ts'
import { type CheckSlice, problemReporter } from '../../../shared/check/slice.ts'

/** All at once: they are few, and are no rows of facts, so they are not counted. */
export function checkSlotLeases(database: DatabaseSync): CheckSlice {
  const rows = database
    .prepare('select slot_range from slot_lease where fence is not null and next_sweep is not null')
    .all()
  const there = new Set(rows.map(({ slot_range }) => slot_range))
  const faults: CheckFault[] = []
  for (let slots = 0; slots < SLOT_RANGES; slots++)
    if (!there.has(slots))
      problemReporter(faults, 'slot_lease', String(slots))('is not whole: names of this range are not visited')
  return { faults, checked: 0, last: null }
}
