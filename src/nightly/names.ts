/** The names of a daily file, read back from the shelf. */

import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Name } from '../words/name.ts'
import type { Opened } from './shelf.ts'

/** Its names in its order, some thousands at a time; it is closed at the end, and where it is given up. */
export async function* namesOf(opened: Opened): AsyncGenerator<Name[]> {
  const gunzip = createGunzip()
  try {
    pipeline(Readable.from(copies(opened), { highWaterMark: 1 }), gunzip, () => {}) // who reads is told of a fault
    let rest = ''
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      const lines = (rest + piece.toString('latin1')).split('\n')
      rest = lines.pop()!
      if (lines.length > 0) yield lines as Name[]
    }
  } finally {
    gunzip.destroy()
    await opened.close()
  }
}

/** A piece of the shelf is good until the next one is asked for, and the stream asks ahead. */
async function* copies({ manifest, read }: Opened): AsyncGenerator<Buffer> {
  for await (const piece of read(0, manifest.bytes)) yield Buffer.from(piece)
}
