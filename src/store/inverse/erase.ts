/** Removes entries from packed blocks of the inverse index. */

import { type Block, BlockWriter, EntryCursor } from '../../inverse/entries/block.ts'

/** What to remove: the events of each key; null for its whole entry. */
export type ErasedEntries = ReadonlyMap<string, ReadonlySet<number> | null>

/** The whole entries of keys. */
export function wholeEntries(keys: Iterable<string>): ErasedEntries {
  return new Map([...keys].map((key) => [key, null]))
}

/** The entries of a block without what is removed, packed again; null if it has nothing of it. */
export function withoutEntries(block: Uint8Array, erased: ErasedEntries): Block[] | null {
  if (!hasErased(block, erased)) return null
  const writer = new BlockWriter()
  const cursor = new EntryCursor([block])
  while (cursor.next()) {
    const { key, keyLength, events, eventCount } = cursor
    const removed = erased.get(key.toString('latin1', 0, keyLength))
    if (removed === undefined) {
      writer.add(key, keyLength, events, eventCount)
      continue
    }
    const kept = removed === null ? [] : remainingEvents(cursor, removed)
    if (kept.length > 0) writer.add(key, keyLength, kept, kept.length)
  }
  return writer.take(true)
}

/** Most blocks that are looked at have nothing of it, if there are many runs. */
function hasErased(block: Uint8Array, erased: ErasedEntries): boolean {
  const cursor = new EntryCursor([block])
  while (cursor.next()) {
    const removed = erased.get(cursor.key.toString('latin1', 0, cursor.keyLength))
    if (removed === null) return true
    if (removed !== undefined && remainingEvents(cursor, removed).length < cursor.eventCount) return true
  }
  return false
}

function remainingEvents({ events, eventCount }: EntryCursor, removed: ReadonlySet<number>): number[] {
  const kept: number[] = []
  for (let index = 0; index < eventCount; index++) if (!removed.has(events[index]!)) kept.push(events[index]!)
  return kept
}
