/** Reads the blocks of the inverse index that may have keys in some ranges. */

import type { DatabaseSync } from 'node:sqlite'
import { POSITION_TAIL_BYTES } from '../../../inverse/entries/block.ts'
import { firstEndingAfter } from '../../inverse/parts-reader.ts'
import type { BlockRequest, ByteRange, RangeBlocks } from '../../inverse/scan.ts'

type StoredBlock = [last: Uint8Array, entries: Uint8Array]

/** Returns a function that answers the request for blocks of these runs, with one statement for each block. */
export function rangeBlockReader(
  database: DatabaseSync,
): (runs: readonly number[], request: BlockRequest) => RangeBlocks {
  const select = database.prepare(
    'select last_position, entries from inverse_block where run = ? and last_position >= ? order by last_position limit 1',
  )
  select.setReturnArrays(true)
  return (runs, { ranges, most, total }) => {
    const found: Uint8Array[][] = []
    let [left, isComplete] = [total, true]
    for (const run of runs) {
      const blocks: Uint8Array[] = []
      const walk = new RangeWalk(ranges, most)
      for (let from: Uint8Array | null = walk.start; from !== null; ) {
        const block = select.get(run, from) as unknown as StoredBlock | undefined
        if (block === undefined) break
        if (left-- === 0) return { runs: [...found, blocks], isComplete: false }
        blocks.push(block[1])
        from = walk.after(block[0])
      }
      if (blocks.length > 0) found.push(blocks)
      isComplete &&= walk.isComplete
    }
    return { runs: found, isComplete }
  }
}

/** The positions from which the blocks of one run are read. */
class RangeWalk {
  isComplete = true
  readonly #ranges: readonly ByteRange[]
  readonly #most: number
  #range = 0
  #blocks = 0

  constructor(ranges: readonly ByteRange[], most: number) {
    this.#ranges = ranges
    this.#most = most
  }

  get start(): Buffer | null {
    return this.#ranges[0]?.from ?? null
  }

  /** The position of the next block, after one that ends at `last`; null at the end. */
  after(last: Uint8Array): Uint8Array | null {
    const key = last.subarray(0, last.length - POSITION_TAIL_BYTES)
    const before = this.#range
    this.#range = firstEndingAfter(this.#ranges, this.#range, key)
    const range = this.#ranges[this.#range]
    if (range === undefined || range.from.compare(key) > 0) {
      this.#blocks = 0
      return range?.from ?? null
    }
    this.#blocks = this.#range === before ? this.#blocks + 1 : 1
    if (this.#blocks < this.#most) return Buffer.concat([last, Buffer.of(0)])
    this.isComplete = false
    this.#blocks = 0
    return this.#ranges[++this.#range]?.from ?? null
  }
}
