/** The job that applies a newer public suffix list to the redirect targets of a store, in slices that can be resumed. */

import { type Registrable, retarget } from '../apply/retarget.ts'
import type { Name } from '../words/name.ts'
import { registrable, slotOf } from '../words/name.ts'
import type { Store } from './store.ts'

/** `seen` counts names, `changed` those whose target was changed, since the job began, over all its runs. */
export type Retargeted = { seen: number; changed: number }

/** `list` names the public suffix list. `onProgress` gets the share of the slots that were gone through, 0 to 1. */
export type RetargetOptions = {
  list: string
  signal: AbortSignal
  registrableOf?: Registrable
  onProgress?(so: Retargeted, share: number): void
}

/** What the job keeps between its runs: the last name that it went through, under which list. */
type Kept = Retargeted & { list: string; after: Name }

/** Names read and written at once: some 50 milliseconds, so that other writers have their turn. */
const SLICE = 1000
const SLOTS = 65_536
const JOB = 'retarget'

/**
 * Goes through all names in the order of slots and changes targets, with their counters, in one transaction a slice. A change
 * whose name was written meanwhile is worked out again. If the signal comes, or the process dies, the next run goes on behind
 * the last slice that was written, unless it has another list: then it begins anew. Returns null for `resumedAt` at a new start.
 */
export async function retargetAll(
  store: Pick<Store, 'archive' | 'frontier' | 'schedule'>,
  options: RetargetOptions,
): Promise<Retargeted & { done: boolean; resumedAt: Name | null }> {
  const { archive, schedule } = store
  const { list, signal, onProgress } = options
  const kept = await readKept(archive, list)
  let { seen, changed } = kept ?? { seen: 0, changed: 0 }
  let after = kept?.after ?? null
  while (!signal.aborted) {
    const names: Name[] = await schedule.names(after, SLICE)
    if (names.length === 0) {
      await archive.keepProgress(JOB, null)
      return { seen, changed, done: true, resumedAt: kept?.after ?? null }
    }
    changed += await retargetSlice(store, names, options.registrableOf ?? registrable)
    seen += names.length
    after = names.at(-1)!
    await archive.keepProgress(JOB, JSON.stringify({ list, after, seen, changed } satisfies Kept))
    onProgress?.({ seen, changed }, slotOf(after) / SLOTS)
  }
  return { seen, changed, done: false, resumedAt: kept?.after ?? null }
}

async function readKept(archive: Store['archive'], list: string): Promise<Kept | null> {
  const text = await archive.progress(JOB)
  const kept = text === null ? null : (JSON.parse(text) as Kept)
  return kept?.list === list ? kept : null
}

/** Returns how many targets were changed. */
async function retargetSlice(
  { frontier }: Pick<Store, 'frontier'>,
  names: readonly Name[],
  registrableOf: Registrable,
): Promise<number> {
  let changed = 0
  for (let todo = names; todo.length > 0; ) {
    // the visits first: a name that is written after that has another version, and is turned away
    const visits = await frontier.visits(todo)
    const currents = await frontier.currents(todo)
    const changes = visits.flatMap((visit, index) => retarget(visit, currents[index]!, registrableOf) ?? [])
    if (changes.length === 0) break
    const { again } = await frontier.save(changes)
    changed += changes.length - again.length
    todo = again
  }
  return changed
}
