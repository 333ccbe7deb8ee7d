/** Stores the names of a list without registering them on a day. */

import { addNames } from '../add-names.ts'
import type { RegistrationImportOptions, RegistrationImportResult } from '../import-options.ts'
import { parseOrderedList, type ReadListLine } from './parse-list.ts'

/** Names passed to the store at once. */
const LIST_BATCH_NAMES = 10_000

/**
 * Reads a complete list, then stores its names. New names are due, in the order of the list, and known names stay as
 * they are. It does not use the folder of registrations. Throws InputError and StrictImportError before it writes to
 * the store.
 */
export async function importNames(
  options: Omit<RegistrationImportOptions, 'root' | 'acceptsLoss'>,
  bytes: AsyncIterable<Uint8Array>,
  readLine?: ReadListLine,
): Promise<Pick<RegistrationImportResult, 'names' | 'unusable' | 'newNames'>> {
  const { names: listed, unusable } = await parseOrderedList(options, bytes, readLine)
  let [names, newNames] = [0, 0]
  const onKnown = (count: number, more: number): void => {
    names += count
    newNames += more
    options.onNames(names)
  }
  await addNames(
    inBatches(listed),
    { insertsUnknown: true, makesDue: false, keepsOrder: true },
    { ...options, onAdded: onKnown },
  )
  return { names, unusable, newNames }
}

async function* inBatches<Item>(items: Iterable<Item>): AsyncGenerator<Item[]> {
  let batch: Item[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < LIST_BATCH_NAMES) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
