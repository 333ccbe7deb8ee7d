/** Makes the names of a list known without registering them on a day. */

import { bring } from './known.ts'
import { readList } from './read-list.ts'
import type { Taken, Taking } from './taking.ts'

/** Names that are handed to the store at once. */
const BATCH = 10_000

/**
 * Reads a list whole, then makes its names known: unknown ones are due for a visit, known ones stay as they are. The folder of
 * registrations is neither read nor written. Throws InputFault and RefusedLine before the store is touched.
 */
export async function learnList(
  taking: Omit<Taking, 'root' | 'acceptsLoss'>,
  bytes: AsyncIterable<Uint8Array>,
): Promise<Pick<Taken, 'names' | 'unusable' | 'fresh'>> {
  const { names: listed, unusable } = await readList(taking, bytes)
  let [names, fresh] = [0, 0]
  const onKnown = (count: number, more: number): void => {
    names += count
    fresh += more
    taking.onNames(names)
  }
  await bring(batchesOf(listed), { isNew: true, isDue: false }, { ...taking, onKnown })
  return { names, unusable, fresh }
}

async function* batchesOf<Item>(items: Iterable<Item>): AsyncGenerator<Item[]> {
  let batch: Item[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
