/** The bytes of a zone or list: from a file or a stream, inflated, and counted as they lie there. */

import { decompress } from '../import/stream/decompress.ts'
import { errorCause, InputError } from '../import/stream/input-error.ts'

/**
 * What `stream` inflates to; `path` tells what it is where it is too short to tell by itself. `onBytes` is told of each
 * piece as it lies there. Throws InputFault where it cannot be read, is cut off or damaged.
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
  for await (const piece of stream) {
    onBytes(piece.length)
    yield piece
  }
}
