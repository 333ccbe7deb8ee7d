/** Inflates a stream of bytes where its first bytes say that it is gzip or zstd, and hands over all that came whole. */

import { constants, createGunzip, createZstdDecompress } from 'node:zlib'

type Bytes = AsyncIterable<Buffer>
type Format = { name: string; ending: string; magic: RegExp; open: () => Decoder }
type Decoder = ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>
/** A decoder that is fed by hand, because an error of a stream takes back what was inflated and not yet read. */
type Stage = { decoder: Decoder; outcome: Error | 'end' | null; isTaken: boolean; wake: () => void }

const CHUNK_BYTES = 262_144
const WINDOW_LOG = 27 // 128 MiB

const FORMATS: Format[] = [
  { name: 'gzip', ending: '.gz', magic: /^1f8b/, open: () => createGunzip({ chunkSize: CHUNK_BYTES }) },
  {
    name: 'zstd',
    ending: '.zst',
    magic: /^(28b52ffd|5.2a4d18)/, // a frame, or one that may be skipped (RFC 8878, chapter 3.1)
    open: () =>
      createZstdDecompress({ chunkSize: CHUNK_BYTES, params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG } }),
  },
]

/**
 * The plain bytes of a stream: compressed ones are told by their first bytes, too short a file by the end of its name.
 * Throws at the end of what could be inflated, saying what is wrong.
 */
export async function* inflate(bytes: Bytes, path: string): AsyncGenerator<Buffer> {
  const iterator = bytes[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    head = Buffer.concat([head, next.value])
    if (head.length >= 4) break
  }
  const magic = head.toString('hex', 0, 4)
  const format = FORMATS.find((each) => each.magic.test(magic) || (head.length < 4 && path.endsWith(each.ending)))
  const all = rejoin(head, iterator)
  yield* format === undefined ? all : decoded(all, format)
}

async function* rejoin(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** One decoder after another, because Node's zstd ends with its first frame. */
async function* decoded(bytes: Bytes, { name, open }: Format): AsyncGenerator<Buffer> {
  let stage = begin(open())
  for await (const chunk of bytes) {
    for (let from = 0; from < chunk.length; ) {
      if (stage.outcome === 'end' && chunk.subarray(from).every((byte) => byte === 0)) break // padding, as in gzip(1)
      if (stage.outcome === 'end') stage = begin(open())
      from += yield* take(stage, chunk.subarray(from), name)
    }
  }
  if (stage.outcome !== null) return
  stage.isTaken = false
  stage.decoder.end()
  yield* drain(stage, name)
}

/** Yields what a chunk inflates to; returns how many of its bytes were used, fewer where the data ends within. */
async function* take(stage: Stage, chunk: Buffer, format: string): AsyncGenerator<Buffer, number> {
  const before = stage.decoder.bytesWritten
  stage.isTaken = false
  stage.decoder.write(chunk, () => {
    stage.isTaken = true
    stage.wake()
  })
  yield* drain(stage, format)
  return stage.decoder.bytesWritten - before
}

function begin(decoder: Decoder): Stage {
  const stage: Stage = { decoder, outcome: null, isTaken: true, wake: () => {} }
  const settle = (outcome: Error | 'end'): void => {
    stage.outcome ??= outcome
    stage.wake()
  }
  decoder
    .on('error', settle)
    .on('end', () => settle('end'))
    .on('readable', () => stage.wake())
  return stage
}

/** What the decoder makes of what it was given, until it has taken all of it. Throws where it is cut off or damaged. */
async function* drain(stage: Stage, format: string): AsyncGenerator<Buffer> {
  for (;;) {
    const part = stage.decoder.read() as Buffer | null
    if (part !== null) yield part
    else if (stage.isTaken || stage.outcome !== null) break
    else await new Promise<void>((resolve) => Object.assign(stage, { wake: resolve }))
  }
  if (!(stage.outcome instanceof Error)) return
  const isCut = (stage.outcome as NodeJS.ErrnoException).code === 'Z_BUF_ERROR'
  throw new Error(isCut ? `the ${format} data is cut off` : `the ${format} data is damaged (${stage.outcome.message})`)
}
