/** Reads names from gzipped lists with one name per line: daily files and other lists. */

import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { DomainName } from '../../values/domain-name.ts'
import type { OpenedFile } from './file-store.ts'

/** Yields the names of a daily file in order, some thousands at a time. Closes the file at the end or if abandoned. */
export function namesOfFile(opened: OpenedFile): AsyncGenerator<DomainName[]> {
  return linesOfFile(opened) as AsyncGenerator<DomainName[]>
}

/** As `namesOfFile`, for the lines of any gzipped file. A character is a byte. */
export async function* linesOfFile(opened: OpenedFile): AsyncGenerator<string[]> {
  try {
    yield* namesInGzip(Readable.from(copiedChunks(opened), { highWaterMark: 1 }))
  } finally {
    await opened.close()
  }
}

/**
 * Yields the names of a gzipped list in order, some thousands at a time. Destroys the stream at the end or if
 * abandoned.
 */
export async function* namesInGzip(packed: Readable): AsyncGenerator<DomainName[]> {
  const gunzip = createGunzip()
  try {
    pipeline(packed, gunzip, () => {}) // the reader receives the error
    let rest = ''
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      const lines = (rest + piece.toString('latin1')).split('\n')
      rest = lines.pop()!
      if (lines.length > 0) yield lines as DomainName[]
    }
  } finally {
    gunzip.destroy()
    packed.destroy()
  }
}

/** Copies each chunk: it is only valid until the next one is read, and the stream reads ahead. */
async function* copiedChunks({ manifest, read }: OpenedFile): AsyncGenerator<Buffer> {
  for await (const piece of read(0, manifest.bytes)) yield Buffer.from(piece)
}
