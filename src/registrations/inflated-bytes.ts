/** Reads the bytes of a zone or list from a file or a stream: decompresses and counts them. */

import { decompress } from '../import/stream/decompress.ts'
import { errorCause, InputError } from '../import/stream/input-error.ts'

/**
 * Yields the decompressed stream. `path` shows the compression if the data is too short to show it. `onBytes` is called
 * for each compressed chunk. Throws InputError if the stream is unreadable, truncated or corrupt.
 */
export async function* inflatedBytes(
  stream: AsyncIterable<Buffer>,
  path: string,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const inflated = decompress(countedBytes(stream, onBytes), path)
  for (;;) {
    const next = await inflated.next().catch((error: unknown) => {
      if ((error as Error).name === 'AbortError') throw error
      throw new InputError(`it cannot be read: ${errorCause(error)}`)
    })
    if (next.done) return
    yield next.value
  }
}

async function* countedBytes(stream: AsyncIterable<Buffer>, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of stream) {
    onBytes(chunk.length)
    yield chunk
  }
}
