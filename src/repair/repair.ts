/** Mends what `check` finds in a store: rows in slices, then the indexes, until a check finds nothing more to mend. */

import { maintainInverseOnce } from '../inverse/maintainer.ts'
import { indexOnce } from '../similar/index/run-indexer.ts'
import type { LockClock } from '../store/named-lock.ts'
import type { CheckFault, Store } from '../store/port/store.ts'
import {
  findingOf,
  type IndexRepair,
  REMEDIES,
  type Removal,
  type Repair,
  repairOf,
} from '../store/shared/check/findings.ts'

export type RepairRun = {
  store: Pick<Store, 'maintenance' | 'inverseIndex' | 'similar' | 'similarIndex' | 'jobs' | 'now'>
  holder: string
  clock: LockClock
  /** Called for each fault when it is mended. */
  onRepaired(fault: CheckFault): void
  /** `checked`: rows, by all passes together. */
  onProgress(checked: number): void
}

/** A fault that is left, and what an operator does about it. */
export type LeftFault = CheckFault & { todo: string }
/** `checked`: the rows of the last pass. `isStopped`: the signal aborted before the end. */
export type RepairResult = { checked: number; repaired: number; left: LeftFault[]; isStopped: boolean }

/** What one pass over the store found and did not mend. */
type Pass = { checked: number; repaired: number; left: CheckFault[]; hasUnusedDocuments: boolean }

/** The job whose progress lists the indexes that were begun again and may be incomplete. */
const REPAIR_JOB = 'repair'
/** Rows, then what depends on the indexes, then what depends on that: one pass each, and one that finds nothing more. */
const MAX_PASSES = 5
const INDEXES: readonly IndexRepair[] = ['similar', 'inverse']
const REMOVALS: readonly Removal[] = ['row', 'orphan']
/** What waits for the end of a pass: an index is built once, and rows are removed if no facts are lost. */
const DEFERRED: readonly Repair[] = [...INDEXES, ...REMOVALS]

/**
 * Repairs a store beside its readers and writers. Each pass checks everything and mends it, until a pass mends nothing.
 * Then its faults are those that are left. After a stop, a new run continues.
 */
export async function repairStore(run: RepairRun, signal: AbortSignal): Promise<RepairResult> {
  const rebuilt = new Map<IndexRepair, boolean>()
  const pages = await run.store.maintenance.pageFaults()
  if (pages.length > 0) return leaveAll(run, pages, signal)
  let repaired = 0
  for (let number = 1; ; number++) {
    const pass = await repairRows(run, signal)
    if (!signal.aborted && !losesFacts(pass)) await removeRows(run, pass)
    const isRebuilt = !signal.aborted && (await rebuildIndexes(run, pass, rebuilt, signal))
    repaired += pass.repaired
    if (signal.aborted || number === MAX_PASSES || (pass.repaired === 0 && !isRebuilt)) {
      const left = pass.left.map((fault) => ({ ...fault, todo: todoOf(fault, pass, rebuilt) }))
      return { checked: pass.checked, repaired, left, isStopped: signal.aborted }
    }
  }
}

/** Only checks a store whose pages are damaged. */
async function leaveAll(run: RepairRun, pages: readonly CheckFault[], signal: AbortSignal): Promise<RepairResult> {
  const { checked, left } = await repairRows(run, signal, false)
  const faults = [...pages, ...left].map((fault) => ({ ...fault, todo: REMEDIES.restore }))
  return { checked, repaired: 0, left: faults, isStopped: signal.aborted }
}

/** One pass over all tables. `mends`: false if it only checks. */
async function repairRows(
  { store, onRepaired, onProgress }: RepairRun,
  signal: AbortSignal,
  mends = true,
): Promise<Pass> {
  const { maintenance } = store
  const pass: Pass = { checked: 0, repaired: 0, left: [], hasUnusedDocuments: false }
  // the states of certificates are counted by the inverse index
  const isMendable = (fault: CheckFault): boolean => {
    const repair = mends ? repairOf(fault) : null
    if (repair === 'certificate') return !needs(pass, 'inverse')
    return repair !== null && !DEFERRED.includes(repair)
  }
  let resume: string | null = null
  do {
    const slice: Awaited<ReturnType<typeof maintenance.check>> = await maintenance.check(resume)
    const mendable = slice.faults.filter(isMendable)
    let left = slice.faults
    if (mendable.length > 0) {
      await maintenance.repair(mendable)
      left = (await maintenance.check(resume)).faults
      const kept = new Set(left.map((fault) => JSON.stringify(fault)))
      const mended = slice.faults.filter((fault) => !kept.has(JSON.stringify(fault)))
      mended.forEach(onRepaired)
      pass.repaired += mended.length
      pass.hasUnusedDocuments ||= mended.some((fault) => repairOf(fault) === 'document')
    }
    pass.left.push(...left)
    pass.checked += slice.checked
    onProgress(pass.checked)
    resume = slice.next
  } while (resume !== null && !signal.aborted)
  return pass
}

/** Faults of removals that are mended at once. */
const REMOVED_AT_ONCE = 500

/** Removes the rows that no fact needs. The next pass finds those that it could not remove. */
async function removeRows({ store, onRepaired }: RepairRun, pass: Pass): Promise<void> {
  const isRemoval = (fault: CheckFault): boolean => REMOVALS.includes(repairOf(fault) as Removal)
  const removed = pass.left.filter(isRemoval)
  for (let from = 0; from < removed.length; from += REMOVED_AT_ONCE)
    await store.maintenance.repair(removed.slice(from, from + REMOVED_AT_ONCE))
  removed.forEach(onRepaired)
  pass.repaired += removed.length
  pass.left = pass.left.filter((fault) => !isRemoval(fault))
}

function needs({ left }: Pass, index: IndexRepair): boolean {
  return left.some((fault) => repairOf(fault) === index)
}

/** Whether the store may have lost facts that only the inverse index still knows. */
function losesFacts({ left }: Pass): boolean {
  return left.some((fault) => findingOf(fault).losesFacts)
}

/**
 * Builds damaged indexes again, each once, and those that a former run began. `rebuilt`: which ones, and whether it was
 * possible. Returns true if it built one.
 */
async function rebuildIndexes(
  { store, holder, clock, onRepaired }: RepairRun,
  pass: Pass,
  rebuilt: Map<IndexRepair, boolean>,
  signal: AbortSignal,
): Promise<boolean> {
  const { maintenance } = store
  const begun = new Set(JSON.parse((await maintenance.progress(REPAIR_JOB)) ?? '[]') as IndexRepair[])
  let isRebuilt = false
  for (const index of INDEXES) {
    const isDamaged = needs(pass, index) && !(index === 'inverse' && losesFacts(pass))
    const hasWork = index === 'similar' && pass.hasUnusedDocuments
    if (rebuilt.has(index) || !(isDamaged || hasWork || begun.has(index))) continue
    const restart = isDamaged && !begun.has(index)
    await maintenance.saveProgress(REPAIR_JOB, JSON.stringify([...begun.add(index)]))
    const indexing = { store, holder, clock, restart, reporter: { progress: () => {} } }
    const ran = await (index === 'inverse' ? maintainInverseOnce(indexing, signal) : indexOnce(indexing, signal))
    rebuilt.set(index, ran !== null)
    if (signal.aborted) return isRebuilt
    begun.delete(index)
    await maintenance.saveProgress(REPAIR_JOB, begun.size === 0 ? null : JSON.stringify([...begun]))
    if (ran === null) continue
    const mended = pass.left.filter((fault) => repairOf(fault) === index)
    mended.forEach(onRepaired)
    pass.repaired += mended.length
    isRebuilt = true
  }
  return isRebuilt
}

function todoOf(fault: CheckFault, pass: Pass, rebuilt: ReadonlyMap<IndexRepair, boolean>): string {
  const finding = findingOf(fault)
  if ('remedy' in finding) return REMEDIES[finding.remedy]
  if (DEFERRED.includes(finding.repair) && losesFacts(pass))
    return 'repair again when no facts are damaged: until then these rows may know what was lost'
  if (rebuilt.get(finding.repair as IndexRepair) === false)
    return 'another process maintains the index: stop the servers and repair again'
  return 'repair again; if it stays, restore a backup'
}
