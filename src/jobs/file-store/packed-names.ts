/** Names out of what was packed, one a line: a daily file on the shelf, and any other list. */

import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { DomainName } from '../../values/domain-name.ts'
import type { OpenedFile } from './file-store.ts'

/** The names of a daily file in its order, some thousands at a time; it is closed at the end, and where it is given up. */
export async function* namesOfFile(opened: OpenedFile): AsyncGenerator<DomainName[]> {
  try {
    yield* namesInGzip(Readable.from(copiedChunks(opened), { highWaterMark: 1 }))
  } finally {
    await opened.close()
  }
}

/** The names of a gzipped list in its order, some thousands at a time; the stream ends with them, and where they are given up. */
export async function* namesInGzip(packed: Readable): AsyncGenerator<DomainName[]> {
  const gunzip = createGunzip()
  try {
    pipeline(packed, gunzip, () => {}) // who reads is told of a fault
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

/** A piece of the shelf is good until the next one is asked for, and the stream asks ahead. */
async function* copiedChunks({ manifest, read }: OpenedFile): AsyncGenerator<Buffer> {
  for await (const piece of read(0, manifest.bytes)) yield Buffer.from(piece)
}
