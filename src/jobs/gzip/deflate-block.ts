/** Deflates one block of a gzip member (RFC 1951). */

import { constants, deflateRawSync } from 'node:zlib'

/** Bytes per output chunk of zlib. Most blocks fit in one. */
const DEFLATE_CHUNK_BYTES = 2 ** 18

/** Ends with a sync flush, so that another block can follow. `dictionary`: the end of the previous block. */
export function deflateBlock(content: Uint8Array, dictionary: Uint8Array, level: number): Uint8Array<ArrayBuffer> {
  return deflateRawSync(content, {
    level,
    chunkSize: DEFLATE_CHUNK_BYTES,
    finishFlush: constants.Z_SYNC_FLUSH,
    ...(dictionary.length > 0 && { dictionary }),
  })
}
