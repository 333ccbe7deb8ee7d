/** Repairs a store as `domaindex check --repair` does. */

import { type RepairResult, repairStore } from '../../../src/repair/repair.ts'
import { SYSTEM_CLOCK } from '../../../src/server/system-clock.ts'
import type { Store } from '../../../src/store/port/store.ts'

export function repairAll(store: Store): Promise<RepairResult> {
  const run = { store, holder: 'a test', clock: SYSTEM_CLOCK, onRepaired: () => {}, onProgress: () => {} }
  return repairStore(run, new AbortController().signal)
}
