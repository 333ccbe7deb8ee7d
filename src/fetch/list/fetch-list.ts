/** Fetches a list of names and adds them to the store, the first probes in the order of the list. */

import type { UnnamedFile } from '../../import/stream/unnamed-file.ts'
import type { RegistrationImportOptions, RegistrationImportResult } from '../../registrations/import-options.ts'
import { importNames } from '../../registrations/list/import-names.ts'
import { type DownloadOptions, download } from '../download.ts'
import { listBytes } from './list-bytes.ts'
import { listLineReader } from './list-columns.ts'

/** `onBytes`: called with the bytes of all parts so far; `of` is null unless there is one part of known size. */
export type ListFetch = Omit<RegistrationImportOptions, 'root' | 'acceptsLoss' | 'isStrict'> &
  Omit<DownloadOptions, 'maxBytes'> & {
    /** The parts of the list, in their order. */
    urls: readonly string[]
    /** As for `listLineReader`. */
    column: string | null
  }

export type FetchedList = Pick<RegistrationImportResult, 'names' | 'unusable' | 'newNames'>

/** Maximum bytes of a part, and of all parts decompressed. A list of a million names has 30 MB. */
const MAX_PART_BYTES = 2 ** 30
const MAX_LIST_BYTES = 2 ** 32

/**
 * Downloads the list completely, reads it completely, then stores its names. Throws InputError before it writes to the
 * store. `maxBytes`: of the decompressed list.
 */
export async function fetchList(fetch: ListFetch, maxBytes = MAX_LIST_BYTES): Promise<FetchedList> {
  const parts: UnnamedFile[] = []
  try {
    for (const url of fetch.urls) {
      const before = parts.reduce((sum, { bytes }) => sum + bytes, 0)
      const onBytes = (bytes: number, of: number | null): void =>
        fetch.onBytes(before + bytes, fetch.urls.length === 1 ? of : null)
      parts.push(await download(url, { ...fetch, maxBytes: MAX_PART_BYTES, onBytes }))
    }
    return await importNames({ ...fetch, isStrict: false }, joinedBytes(parts, maxBytes), listLineReader(fetch.column))
  } finally {
    for (const part of parts) part.close()
  }
}

/** Yields the bytes of all parts. A line end separates them. */
async function* joinedBytes(parts: readonly UnnamedFile[], maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for (const part of parts) {
    for await (const chunk of listBytes(part, maxBytes - bytes)) {
      bytes += chunk.length
      yield chunk
    }
    yield Buffer.from('\n')
  }
}
