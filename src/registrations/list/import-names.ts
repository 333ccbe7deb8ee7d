/** Makes the names of a list known without registering them on a day. */

import { addNames } from '../add-names.ts'
import type { RegistrationImportOptions, RegistrationImportResult } from '../import-options.ts'
import { parseNameList } from './parse-list.ts'

/** Names that are handed to the store at once. */
const LIST_BATCH_NAMES = 10_000

/**
 * Reads a list whole, then makes its names known: unknown ones are due for a visit, known ones stay as they are. The
 * folder of registrations is neither read nor written. Throws InputFault and RefusedLine before the store is touched.
 */
export async function importNames(
  options: Omit<RegistrationImportOptions, 'root' | 'acceptsLoss'>,
  bytes: AsyncIterable<Uint8Array>,
): Promise<Pick<RegistrationImportResult, 'names' | 'unusable' | 'newNames'>> {
  const { names: listed, unusable } = await parseNameList(options, bytes)
  let [names, fresh] = [0, 0]
  const onKnown = (count: number, more: number): void => {
    names += count
    fresh += more
    options.onNames(names)
  }
  await addNames(inBatches(listed), { insertsUnknown: true, makesDue: false }, { ...options, onAdded: onKnown })
  return { names, unusable, newNames: fresh }
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
