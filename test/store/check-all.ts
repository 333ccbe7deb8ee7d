/** Runs the whole check of a store. */

import assert from 'node:assert/strict'
import type { CheckFault, Store } from '../../src/store/port/store.ts'

/** More slices than any store of the tests has. */
const MAX_SLICES = 20_000

/** Returns everything that `check` reports, and the number of rows that it checked. Fails if the check does not end. */
export async function checkAll({
  maintenance,
}: Pick<Store, 'maintenance'>): Promise<{ faults: CheckFault[]; checked: number }> {
  const faults: CheckFault[] = []
  let checked = 0
  let resume: string | null = null
  for (let slices = 0; slices === 0 || resume !== null; slices++) {
    assert.ok(slices < MAX_SLICES, 'check does not end')
    const slice: Awaited<ReturnType<typeof maintenance.check>> = await maintenance.check(resume)
    assert.notEqual(slice.next, resume ?? undefined, 'check does not move on')
    faults.push(...slice.faults)
    checked += slice.checked
    resume = slice.next
  }
  return { faults, checked }
}
