/** Ids of names. A process takes them from the sequence in blocks of a thousand. */

import type { ReadStatement } from './pipelined-reader.ts'

/** The increment of the sequence. */
export const ID_BLOCK = 1000

const NEXT_ID_BLOCKS = {
  name: 'ids.next',
  text: `select nextval('name_id') as first from generate_series(1, $1::integer)`,
}

/** Returns the requested number of ids. Unused ids are lost. */
export function idAllocator(read: ReadStatement): (count: number) => Promise<number[]> {
  const available: number[] = []
  return async (count) => {
    // a loop, because other callers may have taken ids meanwhile
    while (available.length < count) {
      const blocks = Math.ceil((count - available.length) / ID_BLOCK)
      for (const { first } of await read<{ first: number }>(NEXT_ID_BLOCKS, [blocks]))
        for (let id = first + ID_BLOCK - 1; id >= first; id--) available.push(id)
    }
    return available.splice(available.length - count, count)
  }
}
