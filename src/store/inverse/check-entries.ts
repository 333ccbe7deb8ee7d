/**
 * What a check of the inverse index asks an engine for, and how it finds entries. A check is a generator that asks for
 * rows, and an engine answers it from one snapshot.
 */

import { EntryCursor, keyOfPosition, POSITION_TAIL_BYTES } from '../../inverse/entries/block.ts'
import { compareKeys } from '../../inverse/entries/merge.ts'
import { latin1Bytes } from '../../inverse/entries/value-key.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { Instant } from '../../values/time.ts'
import type { DatabaseBoolean } from '../shared/check/slice.ts'
import type { NewestStatesRow, StoredHistory } from './name-events.ts'

/** A block with the state of its run; null if the run does not exist. */
export type CheckedBlock = {
  run: number
  last: Uint8Array
  entries: Uint8Array
  state: string | null
  isIntact: DatabaseBoolean
}
/** The name of an entry, and its stored newest states. */
export type CheckedOwner = NewestStatesRow
/** Asks for the superseded state of a type (its stored number) in which a name was at a moment. */
export type StateRequest = { name: DomainName; type: number; at: Instant }
/** The text of that state; that of its base if it is stored as a serial. */
export type FoundState = Pick<StateRequest, 'name' | 'type' | 'at'> & { records: string }
/** A certificate. `problem`: what is wrong with its row. */
export type CheckedCertificate = {
  sha256: string
  details: string
  states: number
  logged_at: Instant | null
  problem?: string | null
}
export type FoundBlock = Pick<CheckedBlock, 'run' | 'last' | 'entries'>

/**
 * What a check needs next.
 * - `forgotten`: the names of these that were forgotten.
 * - `known`: the names of these that are known, whether they have facts or not.
 * - `owners`: the names of these that have facts.
 * - `histories`: those of names that have facts.
 * - `states`: of each of these the newest superseded state that began by the moment, if there is one.
 * - `certificates`: the rows of those that exist.
 * - `blocks`: of each published run the first block that ends at one of the positions or later, each once. The positions
 *   ascend.
 */
export type InverseCheckRequest =
  | { needs: 'known' | 'forgotten' | 'owners' | 'histories'; names: readonly DomainName[] }
  | { needs: 'states'; states: readonly StateRequest[] }
  | { needs: 'certificates'; sha256s: readonly string[] }
  | { needs: 'blocks'; positions: readonly Buffer[] }
export type InverseCheckAnswer =
  | { name: DomainName }[]
  | CheckedOwner[]
  | StoredHistory[]
  | FoundState[]
  | CheckedCertificate[]
  | FoundBlock[]
export type InverseCheck<Result> = Generator<InverseCheckRequest, Result, InverseCheckAnswer>

/** The events of those of the keys that the published runs have. `keys` ascend. */
export function* findEntries(keys: readonly string[]): InverseCheck<Map<string, Set<number>>> {
  const found = new Map<string, Set<number>>()
  const wanted = keys.map(latin1Bytes)
  const isWanted = new Set(keys)
  const read = new Set<string>()
  let positions = wanted
  while (positions.length > 0) {
    const answer = (yield { needs: 'blocks', positions }) as FoundBlock[]
    const blocks = answer.filter((block) => read.size < read.add(`${block.run} ${latin1(block.last)}`).size)
    blocks.sort((a, b) => a.run - b.run || Buffer.compare(a.last, b.last))
    const next = new Set<string>()
    let at = 0
    for (const [index, block] of blocks.entries()) {
      if (block.run !== blocks[index - 1]?.run) at = 0
      while (at < wanted.length && isBehind(block, wanted[at]!, blocks[index - 1])) at++
      addFound(block, { keys, wanted, at }, found)
      const position = latin1(block.last)
      // the entry may continue in the next block
      if (isWanted.has(keyOfPosition(position))) next.add(`${position}\x00`)
    }
    positions = [...next].sort().map(latin1Bytes)
  }
  return found
}

/** Whether a key ends in the block before, at the latest. It may continue if it is the last one of that block. */
function isBehind({ run }: FoundBlock, key: Buffer, before: FoundBlock | undefined): boolean {
  if (before?.run !== run) return false
  const lastKey = before.last.subarray(0, before.last.length - POSITION_TAIL_BYTES)
  return Buffer.compare(key, lastKey) < 0
}

/** Adds the wanted entries of a block, from the wanted key `at`. Skips the rest of a damaged block. */
function addFound(
  { entries, last }: FoundBlock,
  { keys, wanted, at: from }: { keys: readonly string[]; wanted: readonly Buffer[]; at: number },
  found: Map<string, Set<number>>,
): void {
  const cursor = new EntryCursor([entries])
  let at = from
  try {
    while (at < wanted.length && Buffer.compare(wanted[at]!, last) < 0 && cursor.next()) {
      let order = 1
      for (; at < wanted.length; at++) {
        order = compareKeys(wanted[at]!, wanted[at]!.length, cursor.key, cursor.keyLength)
        if (order >= 0) break
      }
      if (order !== 0) continue
      const events = found.get(keys[at]!) ?? new Set<number>()
      for (let index = 0; index < cursor.eventCount; index++) events.add(cursor.events[index]!)
      found.set(keys[at]!, events)
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
}

/** One character per byte. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
