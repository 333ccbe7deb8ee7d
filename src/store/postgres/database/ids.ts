/** Ids of names, which a process takes from the sequence a thousand at a time. */

import type { ReadStatement } from './pipelined-reader.ts'

/** As the sequence counts. */
export const ID_BLOCK = 1000

const NEXT_ID_BLOCKS = {
  name: 'ids.next',
  text: `select nextval('name_id') as first from generate_series(1, $1::integer)`,
}

/** Hands over as many as are asked for; ids that are not used are lost. */
export function idAllocator(read: ReadStatement): (count: number) => Promise<number[]> {
  const kept: number[] = []
  return async (count) => {
    // again, where others took from what was kept meanwhile
    while (kept.length < count) {
      const blocks = Math.ceil((count - kept.length) / ID_BLOCK)
      for (const { first } of await read<{ first: number }>(NEXT_ID_BLOCKS, [blocks]))
        for (let id = first + ID_BLOCK - 1; id >= first; id--) kept.push(id)
    }
    return kept.splice(kept.length - count, count)
  }
}
