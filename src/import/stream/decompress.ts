/** Decompresses a stream if its first bytes identify gzip or zstd, and yields everything that is complete. */

import { constants, createGunzip, createZstdDecompress } from 'node:zlib'

type ByteStream = AsyncIterable<Buffer>
type CompressionFormat = { name: string; ending: string; magic: RegExp; open: () => StreamDecoder }
type StreamDecoder = ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>
/**
 * A decoder that is fed directly, because an error of a Node stream discards decompressed data that was not yet read.
 */
type DecoderStage = { decoder: StreamDecoder; outcome: Error | 'end' | null; isConsumed: boolean; wakeUp: () => void }

const CHUNK_BYTES = 262_144
const MAX_ZSTD_WINDOW_LOG = 27 // 128 MiB

const COMPRESSION_FORMATS: CompressionFormat[] = [
  { name: 'gzip', ending: '.gz', magic: /^1f8b/, open: () => createGunzip({ chunkSize: CHUNK_BYTES }) },
  {
    name: 'zstd',
    ending: '.zst',
    magic: /^(28b52ffd|5.2a4d18)/, // a frame or a skippable frame (RFC 8878, section 3.1)
    open: () =>
      createZstdDecompress({
        chunkSize: CHUNK_BYTES,
        params: { [constants.ZSTD_d_windowLogMax]: MAX_ZSTD_WINDOW_LOG },
      }),
  },
]

/**
 * Yields the plain bytes of a stream. The first bytes identify the compression, or the file extension if there are too
 * few. Throws at the end of what could be decompressed, and says what is wrong.
 */
export async function* decompress(bytes: ByteStream, path: string): AsyncGenerator<Buffer> {
  const iterator = bytes[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    head = Buffer.concat([head, next.value])
    if (head.length >= 4) break
  }
  const magic = head.toString('hex', 0, 4)
  const format = COMPRESSION_FORMATS.find(
    (each) => each.magic.test(magic) || (head.length < 4 && path.endsWith(each.ending)),
  )
  const all = prependHead(head, iterator)
  yield* format === undefined ? all : decodeStream(all, format)
}

async function* prependHead(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** Runs one decoder after another, because Node's zstd ends with its first frame. */
async function* decodeStream(bytes: ByteStream, { name, open }: CompressionFormat): AsyncGenerator<Buffer> {
  let stage = createStage(open())
  for await (const chunk of bytes) {
    for (let from = 0; from < chunk.length; ) {
      if (stage.outcome === 'end' && chunk.subarray(from).every((byte) => byte === 0)) break // padding, as in gzip(1)
      if (stage.outcome === 'end') stage = createStage(open())
      from += yield* decodeChunk(stage, chunk.subarray(from), name)
    }
  }
  if (stage.outcome !== null) return
  stage.isConsumed = false
  stage.decoder.end()
  yield* drainDecoder(stage, name)
}

/**
 * Yields the decompressed chunk. Returns how many bytes were used, which are fewer if the data ends within the chunk.
 */
async function* decodeChunk(stage: DecoderStage, chunk: Buffer, format: string): AsyncGenerator<Buffer, number> {
  const before = stage.decoder.bytesWritten
  stage.isConsumed = false
  stage.decoder.write(chunk, () => {
    stage.isConsumed = true
    stage.wakeUp()
  })
  yield* drainDecoder(stage, format)
  return stage.decoder.bytesWritten - before
}

function createStage(decoder: StreamDecoder): DecoderStage {
  const stage: DecoderStage = { decoder, outcome: null, isConsumed: true, wakeUp: () => {} }
  const settle = (outcome: Error | 'end'): void => {
    stage.outcome ??= outcome
    stage.wakeUp()
  }
  decoder
    .on('error', settle)
    .on('end', () => settle('end'))
    .on('readable', () => stage.wakeUp())
  return stage
}

/** Yields the decoder's output until it has consumed its input. Throws if the data is truncated or corrupt. */
async function* drainDecoder(stage: DecoderStage, format: string): AsyncGenerator<Buffer> {
  for (;;) {
    const piece = stage.decoder.read() as Buffer | null
    if (piece !== null) yield piece
    else if (stage.isConsumed || stage.outcome !== null) break
    else await new Promise<void>((resolve) => Object.assign(stage, { wakeUp: resolve }))
  }
  if (!(stage.outcome instanceof Error)) return
  const isCut = (stage.outcome as NodeJS.ErrnoException).code === 'Z_BUF_ERROR'
  throw new Error(isCut ? `the ${format} data is cut off` : `the ${format} data is damaged (${stage.outcome.message})`)
}
