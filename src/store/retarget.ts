/** The job that applies a newer public suffix list to the redirect targets of a store, in slices that can be resumed. */

import { type RegistrableDomainOf, retargetChange } from '../apply/retarget.ts'
import type { DomainName } from '../values/domain-name.ts'
import { registrableDomain, slotOf } from '../values/domain-name.ts'
import type { Store } from './port/store.ts'

/** `seen` counts names, `changed` those whose target was changed, since the job began, over all its runs. */
export type RetargetProgress = { checked: number; changed: number }

/** `list` names the public suffix list. `onProgress` gets the share of the slots that were gone through, 0 to 1. */
export type RetargetOptions = {
  list: string
  signal: AbortSignal
  registrableOf?: RegistrableDomainOf
  onProgress?(so: RetargetProgress, share: number): void
}

/** What the job keeps between its runs: the last name that it went through, under which list. */
type StoredRetargetProgress = RetargetProgress & { list: string; after: DomainName }

/** Names read and written at once: some 50 milliseconds, so that other writers have their turn. */
const RETARGET_BATCH_NAMES = 1000
const SLOT_COUNT = 65_536
const RETARGET_JOB = 'retarget'

/**
 * Goes through all names in the order of slots and changes targets, with their counters, in one transaction a slice. A change
 * whose name was written meanwhile is worked out again. If the signal comes, or the process dies, the next run goes on behind
 * the last slice that was written, unless it has another list: then it begins anew. Returns null for `resumedAt` at a new start.
 */
export async function retargetAll(
  store: Pick<Store, 'maintenance' | 'observations' | 'schedule'>,
  options: RetargetOptions,
): Promise<RetargetProgress & { done: boolean; resumedAt: DomainName | null }> {
  const { maintenance: archive, schedule } = store
  const { list, signal, onProgress } = options
  const kept = await readStoredProgress(archive, list)
  let { checked: seen, changed } = kept ?? { checked: 0, changed: 0 }
  let after = kept?.after ?? null
  while (!signal.aborted) {
    const names: DomainName[] = await schedule.names(after, RETARGET_BATCH_NAMES)
    if (names.length === 0) {
      await archive.saveProgress(RETARGET_JOB, null)
      return { checked: seen, changed, done: true, resumedAt: kept?.after ?? null }
    }
    changed += await retargetSlice(store, names, options.registrableOf ?? registrableDomain)
    seen += names.length
    after = names.at(-1)!
    await archive.saveProgress(
      RETARGET_JOB,
      JSON.stringify({ list, after, checked: seen, changed } satisfies StoredRetargetProgress),
    )
    onProgress?.({ checked: seen, changed }, slotOf(after) / SLOT_COUNT)
  }
  return { checked: seen, changed, done: false, resumedAt: kept?.after ?? null }
}

async function readStoredProgress(archive: Store['maintenance'], list: string): Promise<StoredRetargetProgress | null> {
  const text = await archive.progress(RETARGET_JOB)
  const kept = text === null ? null : (JSON.parse(text) as StoredRetargetProgress)
  return kept?.list === list ? kept : null
}

/** Returns how many targets were changed. */
async function retargetSlice(
  { observations: frontier }: Pick<Store, 'observations'>,
  names: readonly DomainName[],
  registrableOf: RegistrableDomainOf,
): Promise<number> {
  let changed = 0
  for (let todo = names; todo.length > 0; ) {
    // the visits first: a name that is written after that has another version, and is turned away
    const visits = await frontier.crawlStates(todo)
    const currents = await frontier.currentFacts(todo)
    const changes = visits.flatMap((visit, index) => retargetChange(visit, currents[index]!, registrableOf) ?? [])
    if (changes.length === 0) break
    const { rejected: again } = await frontier.save(changes)
    changed += changes.length - again.length
    todo = again
  }
  return changed
}
