/** The job that applies a newer public suffix list to the redirect targets of a store, in resumable slices. */

import { type RegistrableDomainOf, retargetChange } from '../apply/retarget.ts'
import { type DomainName, registrableDomain, SLOT_COUNT, slotOf } from '../values/domain-name.ts'
import type { Store } from './port/store.ts'

/** Names checked and targets changed since the job started, over all its runs. */
export type RetargetProgress = { checked: number; changed: number }

/** `list` identifies the public suffix list. `onProgress` receives the share of the slots that are done, 0 to 1. */
export type RetargetOptions = {
  list: string
  signal: AbortSignal
  registrableOf?: RegistrableDomainOf
  onProgress?(progress: RetargetProgress, share: number): void
}

/** The stored progress: the last name that the job processed, and the public suffix list. */
type StoredRetargetProgress = RetargetProgress & { list: string; after: DomainName }

/** Names per slice: about 50 milliseconds, so that other writers are not blocked. */
const RETARGET_BATCH_NAMES = 1000
const RETARGET_JOB = 'retarget'

/**
 * Processes all names in slot order. Each slice changes targets and their counters in one transaction. If another
 * writer changes a name meanwhile, its change is computed again. After an abort or a crash, the next run resumes after
 * the last slice, unless the list has changed: then it starts over. `resumedAt` is null at a new start.
 */
export async function retargetAll(
  store: Pick<Store, 'maintenance' | 'observations' | 'schedule'>,
  options: RetargetOptions,
): Promise<RetargetProgress & { done: boolean; resumedAt: DomainName | null }> {
  const { maintenance, schedule } = store
  const { list, signal, onProgress } = options
  const stored = await readStoredProgress(maintenance, list)
  let { checked, changed } = stored ?? { checked: 0, changed: 0 }
  let after = stored?.after ?? null
  while (!signal.aborted) {
    const names: DomainName[] = await schedule.names(after, RETARGET_BATCH_NAMES)
    if (names.length === 0) {
      await maintenance.saveProgress(RETARGET_JOB, null)
      return { checked, changed, done: true, resumedAt: stored?.after ?? null }
    }
    changed += await retargetSlice(store, names, options.registrableOf ?? registrableDomain)
    checked += names.length
    after = names.at(-1)!
    await maintenance.saveProgress(
      RETARGET_JOB,
      JSON.stringify({ list, after, checked, changed } satisfies StoredRetargetProgress),
    )
    onProgress?.({ checked, changed }, slotOf(after) / SLOT_COUNT)
  }
  return { checked, changed, done: false, resumedAt: stored?.after ?? null }
}

async function readStoredProgress(
  maintenance: Store['maintenance'],
  list: string,
): Promise<StoredRetargetProgress | null> {
  const text = await maintenance.progress(RETARGET_JOB)
  const stored = text === null ? null : (JSON.parse(text) as StoredRetargetProgress)
  return stored?.list === list ? stored : null
}

/** Returns the number of changed targets. */
async function retargetSlice(
  { observations }: Pick<Store, 'observations'>,
  names: readonly DomainName[],
  registrableOf: RegistrableDomainOf,
): Promise<number> {
  let changed = 0
  for (let pending = names; pending.length > 0; ) {
    // read the crawl states first: if a name is written after that, its version differs and the store rejects the
    // change
    const crawlStates = await observations.crawlStates(pending)
    const currents = await observations.currentFacts(pending)
    const changes = crawlStates.flatMap(
      (crawlState, index) => retargetChange(crawlState, currents[index]!, registrableOf) ?? [],
    )
    if (changes.length === 0) break
    const { rejected } = await observations.save(changes)
    changed += changes.length - rejected.length
    pending = rejected
  }
  return changed
}
