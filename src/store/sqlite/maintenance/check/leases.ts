/** Checks leases: each slot range has its row. Without it, no crawler would probe its names. */

import type { DatabaseSync } from 'node:sqlite'
import { SLOT_RANGES } from '../../../../values/domain-name.ts'
import type { CheckFault } from '../../../port/store.ts'
import { type CheckSlice, problemReporter } from '../../../shared/check/slice.ts'

/** Checks all ranges at once, because there are few. They are not rows of facts, so they are not counted. */
export function checkSlotLeases(database: DatabaseSync): CheckSlice {
  const rows = database
    .prepare('select slot_range from slot_lease where fence is not null and next_sweep is not null')
    .all()
  const existing = new Set(rows.map(({ slot_range }) => slot_range))
  const faults: CheckFault[] = []
  for (let range = 0; range < SLOT_RANGES; range++)
    if (!existing.has(range))
      problemReporter(faults, 'slot_lease', String(range))('is missing or damaged: names of this range are not probed')
  return { faults, checked: 0, last: null }
}
