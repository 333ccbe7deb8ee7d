/**
 * What a check of the inverse index asks an engine for, how it finds entries, and how many names it checks at once. A
 * check is a generator that asks for rows, and an engine answers it from one snapshot.
 */

import { EntryCursor, keyOfPosition, POSITION_TAIL_BYTES } from '../../inverse/entries/block.ts'
import { compareKeys } from '../../inverse/entries/merge.ts'
import { latin1Bytes } from '../../inverse/entries/value-key.ts'
import type { DomainName } from '../../values/domain-name.ts'
import type { Instant } from '../../values/time.ts'
import type { InverseRun, RunSlice } from '../port/inverse.ts'
import { CHECK_SLICE_ROWS, type DatabaseBoolean } from '../shared/check/slice.ts'
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
 * - `runs`: those that are published.
 * - `blocks`: of each of these runs, or of those that are published (null), the first block that ends at one of the
 *   positions or later, each once. The positions ascend.
 * - `slice`: the blocks of a run from the first one that ends at a position or later, at most `blocks`. None at its end.
 */
export type InverseCheckRequest =
  | { needs: 'known' | 'forgotten' | 'owners' | 'histories'; names: readonly DomainName[] }
  | { needs: 'states'; states: readonly StateRequest[] }
  | { needs: 'certificates'; sha256s: readonly string[] }
  | { needs: 'runs' }
  | { needs: 'blocks'; runs: readonly number[] | null; positions: readonly Buffer[] }
  | { needs: 'slice'; run: number; from: Buffer; blocks: number }
export type InverseCheckAnswer =
  | { name: DomainName }[]
  | CheckedOwner[]
  | StoredHistory[]
  | FoundState[]
  | CheckedCertificate[]
  | InverseRun[]
  | FoundBlock[]
  | RunSlice[]
export type InverseCheck<Result> = Generator<InverseCheckRequest, Result, InverseCheckAnswer>

/**
 * How many times more names than rows a large slice has: of names alone, and of names with their histories, which take
 * more memory.
 */
export const SLICE_GROWTH = { names: 16, histories: 4 } as const
/** Blocks that a slice of names reads at most, except for a few names and for large slices. */
const MAX_READ_BLOCKS = 7_000
const MIN_NAMES = 32
/** Blocks that a large slice reads at most, in some seconds, and how many of them it may find by a key each. */
const MAX_BLOCKS_OF_LARGE_SLICE = 1_000_000
const MAX_LOOKUPS_OF_LARGE_SLICE = 50_000
/** A large slice is read if it reads this many times fewer blocks for each name. */
const MIN_GAIN = 2
/** About. */
const ENTRIES_PER_NAME = 12
const BYTES_PER_BLOCK = 900
/** A run is read whole if it has fewer blocks for each key. */
const BLOCKS_PER_KEY = 2
/** Blocks of a run that is read whole, at once. */
const BLOCKS_PER_SLICE = 256
/** Keys that are looked up at once. */
const KEYS_PER_LOOKUP = 2048

/** Keys in ascending order, and the same as bytes. */
type WantedKeys = { keys: readonly string[]; bytes: readonly Buffer[] }
type FoundEvents = Map<string, Set<number>>

/** Whether a check that looks for keys reads a run whole. */
function isReadWhole(keys: number, { bytes }: Pick<InverseRun, 'bytes'>): boolean {
  return bytes / BYTES_PER_BLOCK < keys * BLOCKS_PER_KEY
}

/**
 * The number of names of a slice. Each slice reads about as many blocks as its names have entries, from each run, or all
 * of a smaller run. So a store with many small runs, which nothing has merged, is checked in large slices of up to
 * `growth` times as many names. A slice of less than CHECK_SLICE_ROWS follows a damaged one, and stays small.
 */
export function namesPerSlice(limit: number, growth: number, runs: readonly Pick<InverseRun, 'bytes'>[]): number {
  const blocksOf = (names: number): number => {
    const keys = ENTRIES_PER_NAME * names
    return runs.reduce((sum, run) => sum + (isReadWhole(keys, run) ? run.bytes / BYTES_PER_BLOCK : keys), 0)
  }
  const lookupsOf = (names: number): number => {
    const keys = ENTRIES_PER_NAME * names
    return keys * runs.filter((run) => !isReadWhole(keys, run)).length
  }
  let small = limit
  while (small > MIN_NAMES && blocksOf(small) > MAX_READ_BLOCKS) small = Math.max(MIN_NAMES, Math.ceil(small / 2))
  if (small === limit || limit < CHECK_SLICE_ROWS) return small
  let large = limit * growth
  const isTooLarge = (): boolean =>
    blocksOf(large) > MAX_BLOCKS_OF_LARGE_SLICE || lookupsOf(large) > MAX_LOOKUPS_OF_LARGE_SLICE
  while (large > small && isTooLarge()) large = Math.max(small, Math.ceil(large / 2))
  return (blocksOf(large) / large) * MIN_GAIN < blocksOf(small) / small ? large : small
}

/**
 * The events of those of the keys that the published runs have. `keys` ascend. A run in which most blocks would be read
 * is read whole. With a lower `limit` than CHECK_SLICE_ROWS none is: such a slice follows a damaged one, and reads as few
 * blocks as possible.
 */
export function* findEntries(keys: readonly string[], limit = CHECK_SLICE_ROWS): InverseCheck<FoundEvents> {
  const found: FoundEvents = new Map()
  if (keys.length === 0) return found
  const runs = (yield { needs: 'runs' }) as InverseRun[]
  const wanted = { keys, bytes: keys.map(latin1Bytes) }
  const others: number[] = []
  for (const run of runs)
    if (limit >= CHECK_SLICE_ROWS && isReadWhole(keys.length, run)) yield* readWholeRun(run.number, wanted, found)
    else others.push(run.number)
  for (let at = 0; others.length > 0 && at < keys.length; at += KEYS_PER_LOOKUP) {
    const end = at + KEYS_PER_LOOKUP
    yield* lookUp(others, { keys: keys.slice(at, end), bytes: wanted.bytes.slice(at, end) }, found)
  }
  return found
}

/** Adds the wanted entries of a run, all of whose blocks are read. */
function* readWholeRun(run: number, wanted: WantedKeys, found: FoundEvents): InverseCheck<void> {
  let from = wanted.bytes[0]!
  let at = 0
  for (;;) {
    const [slice] = (yield { needs: 'slice', run, from, blocks: BLOCKS_PER_SLICE }) as RunSlice[]
    if (slice === undefined) return
    for (const entries of slice.blocks) at = addFound({ entries }, wanted, at, found)
    const position = latin1(slice.last)
    if (!slice.more || keyOfPosition(position) > wanted.keys.at(-1)!) return
    from = latin1Bytes(`${position}\x00`)
  }
}

/** Adds the wanted entries of runs in which each key is looked up. */
function* lookUp(runs: readonly number[], wanted: WantedKeys, found: FoundEvents): InverseCheck<void> {
  const isWanted = new Set(wanted.keys)
  const read = new Set<string>()
  let positions = wanted.bytes
  while (positions.length > 0) {
    const answer = (yield { needs: 'blocks', runs, positions }) as FoundBlock[]
    const blocks = answer.filter((block) => read.size < read.add(`${block.run} ${latin1(block.last)}`).size)
    blocks.sort((a, b) => a.run - b.run || Buffer.compare(a.last, b.last))
    const next = new Set<string>()
    let at = 0
    for (const [index, block] of blocks.entries()) {
      if (block.run !== blocks[index - 1]?.run) at = 0
      while (at < wanted.keys.length && isBehind(block, wanted.bytes[at]!, blocks[index - 1])) at++
      addFound(block, wanted, at, found)
      const position = latin1(block.last)
      // the entry may continue in the next block
      if (isWanted.has(keyOfPosition(position))) next.add(`${position}\x00`)
    }
    positions = [...next].sort().map(latin1Bytes)
  }
}

/** Whether a key ends in the block before, at the latest. It may continue if it is the last one of that block. */
function isBehind({ run }: FoundBlock, key: Buffer, before: FoundBlock | undefined): boolean {
  if (before?.run !== run) return false
  const lastKey = before.last.subarray(0, before.last.length - POSITION_TAIL_BYTES)
  return Buffer.compare(key, lastKey) < 0
}

/**
 * Adds the wanted entries of a block, of which `from` may be the first. Returns the first one that the next block may
 * have. Skips the rest of a damaged block.
 */
function addFound(
  { entries, last }: Pick<FoundBlock, 'entries'> & Partial<FoundBlock>,
  { keys, bytes }: WantedKeys,
  from: number,
  found: FoundEvents,
): number {
  const cursor = new EntryCursor([entries])
  const orderOf = (at: number): number => compareKeys(bytes[at]!, bytes[at]!.length, cursor.key, cursor.keyLength)
  const mayFollow = (at: number): boolean =>
    at < keys.length && (last === undefined || Buffer.compare(bytes[at]!, last) < 0)
  let at = from
  try {
    for (let isFirst = true; (isFirst || mayFollow(at)) && cursor.next(); isFirst = false) {
      // the block before may have been damaged
      while (isFirst && at > 0 && orderOf(at - 1) >= 0) at--
      let order = 1
      for (; at < keys.length; at++) {
        order = orderOf(at)
        if (order >= 0) break
      }
      if (order !== 0) continue
      const events = found.get(keys[at]!) ?? new Set<number>()
      for (let index = 0; index < cursor.eventCount; index++) events.add(cursor.events[index]!)
      found.set(keys[at]!, events)
    }
    return at
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return from
  }
}

/** One character per byte. */
export function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
