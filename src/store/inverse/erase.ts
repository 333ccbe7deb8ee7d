/** Removes entries from packed blocks of the inverse index. */

import { type Block, BlockWriter, EntryCursor } from '../../inverse/entries/block.ts'

/** The entries of a block without those of the keys, packed again; null if it has none of them. */
export function withoutKeys(block: Uint8Array, keys: ReadonlySet<string>): Block[] | null {
  const writer = new BlockWriter()
  const cursor = new EntryCursor([block])
  let isChanged = false
  while (cursor.next()) {
    if (keys.has(cursor.key.toString('latin1', 0, cursor.keyLength))) isChanged = true
    else writer.add(cursor.key, cursor.keyLength, cursor.events, cursor.eventCount)
  }
  return isChanged ? writer.take(true) : null
}
