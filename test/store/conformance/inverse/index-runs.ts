/** The runs of the inverse index in tests: a maintainer under a lock, all entries of any run, and an emptied index. */

import assert from 'node:assert/strict'
import { type Block, BlockWriter, EntryCursor } from '../../../../src/inverse/entries/block.ts'
import { knownNameOfKey, parseEntryKey } from '../../../../src/inverse/entries/value-key.ts'
import { InverseMaintainer } from '../../../../src/inverse/maintainer.ts'
import { entriesOfPortion } from '../../../../src/store/inverse/portion.ts'
import type { HeldLock } from '../../../../src/store/named-lock.ts'
import { openBulkStore } from '../../../../src/store/open.ts'
import type { RunSlice } from '../../../../src/store/port/inverse.ts'
import type { LockHold } from '../../../../src/store/port/jobs.ts'
import type { Store } from '../../../../src/store/port/store.ts'

/** More than a store of the tests has. */
const MAX_RUN = 20_000
const MAX_BLOCKS = 10_000

/** Acquires the lock of the inverse index. */
export async function inverseHold({ jobs }: Pick<Store, 'jobs'>, holder = 'a maintainer'): Promise<LockHold> {
  return (await jobs.acquireLock('inverse', holder))!
}

/** A maintainer that holds a lock. */
export function maintainerOf({ inverseIndex }: Pick<Store, 'inverseIndex'>, hold: LockHold): InverseMaintainer {
  const lock: HeldLock = {
    hold,
    signal: new AbortController().signal,
    markLost: () => assert.fail('the lock is lost'),
    requireHeld: async () => {},
  }
  return new InverseMaintainer(inverseIndex, lock)
}

/** Works until nothing is left to do. */
export async function maintain(maintainer: InverseMaintainer): Promise<void> {
  for (let step = 0; await maintainer.step(); step++) assert.ok(step < 10_000, 'maintenance does not end')
}

/** Merges all published runs into one, or into none if there is nothing in them. */
export async function mergeAll({ inverseIndex: index }: Pick<Store, 'inverseIndex'>, hold: LockHold): Promise<void> {
  const runs = (await index.runs()).map(({ number }) => number)
  const run = (await index.beginRun(hold))!
  const { slices, erasures } = await index.portion(runs, Buffer.alloc(0), MAX_BLOCKS)
  assert.equal(await index.writeBlocks(hold, run, mergedBlocks(slices), erasures), true)
  assert.equal(await index.publishRun(hold, run, runs), true)
  while (await index.removeReplaced(hold, 1000));
}

/** The merged entries of whole runs. */
export function mergedBlocks(slices: readonly RunSlice[]): Block[] {
  const writer = new BlockWriter()
  for (const { key, keyLength, events } of entriesOfPortion(slices, Buffer.alloc(0)))
    writer.add(key, keyLength, events, events.length)
  return writer.take(true)
}

/** The names of all entries of all runs, also of unpublished and replaced ones. */
export async function namesInBlocks({ inverseIndex: index }: Pick<Store, 'inverseIndex'>): Promise<Set<string>> {
  const numbers = Array.from({ length: MAX_RUN }, (_, number) => number)
  const { slices } = await index.portion(numbers, Buffer.alloc(0), MAX_BLOCKS)
  const names = new Set<string>()
  for (const { blocks } of slices)
    for (const cursor = new EntryCursor(blocks); cursor.next(); ) {
      const key = cursor.key.toString('latin1', 0, cursor.keyLength)
      const name = knownNameOfKey(key) ?? parseEntryKey(key)?.name
      if (name !== undefined) names.add(name)
    }
  return names
}

/** Empties the index, and sets that all names are to be filled in, as for a store that is older than the index. */
export async function emptyIndex(store: Pick<Store, 'inverseIndex'>, url: string, hold: LockHold): Promise<void> {
  const { inverseIndex: index } = store
  const runs = (await index.runs()).map(({ number }) => number)
  const empty = (await index.beginRun(hold))!
  await index.publishRun(hold, empty, [...runs, empty])
  while (await index.removeReplaced(hold, 1000));
  assert.deepEqual(await namesInBlocks(store), new Set())
  const bulk = await openBulkStore(url, 'write')
  await bulk.finish(await bulk.lastNumbers())
  await bulk.close()
}
