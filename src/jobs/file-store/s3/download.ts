/** Reads a range of an object of S3 as a stream, and continues where a connection broke. */

import type { S3Objects } from './objects.ts'

/** The size of a chunk in bytes, at most. */
const MAX_CHUNK_BYTES = 131_072
/** Milliseconds without a byte after which a connection counts as broken. The pauses of the reader do not count. */
const SILENCE_MS = 30_000
/** Connections in a row that may break without a byte. */
const MAX_BARREN_CONNECTIONS = 3

/** The bytes from `start` to before `end`, in chunks of at most 128 KiB. Only what the sockets hold is in memory. */
export async function* readObjectRange(
  objects: Pick<S3Objects, 'range'>,
  key: string,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  let barren = 0
  for (let at = start; at < end; ) {
    const from = at
    try {
      for await (const chunk of chunksOf(await objects.range(key, at, end))) {
        const wanted = chunk.subarray(0, end - at) // a server may send more than the range
        for (let sent = 0; sent < wanted.length; sent += MAX_CHUNK_BYTES) {
          const piece = wanted.subarray(sent, sent + MAX_CHUNK_BYTES)
          at += piece.length
          yield piece
        }
        if (at === end) return
      }
      if (at < end) throw new Error(`S3 ended the response ${end - at} bytes too early`)
    } catch (error) {
      barren = at === from ? barren + 1 : 0
      if (barren >= MAX_BARREN_CONNECTIONS) throw error
    }
  }
}

async function* chunksOf(body: Awaited<ReturnType<S3Objects['range']>>): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const timer = setTimeout(() => body.destroy(new Error('S3 sends no more bytes')), SILENCE_MS)
      const next = await chunks.next().finally(() => clearTimeout(timer))
      if (next.done) return
      yield next.value
    }
  } finally {
    body.destroy()
  }
}
