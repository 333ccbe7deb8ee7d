/** Inflates a stream of bytes where its first bytes say that it is gzip or zstd, and hands over all that came whole. */

import { constants, createGunzip, createZstdDecompress } from 'node:zlib'

type Decoder = ReturnType<typeof createGunzip> | ReturnType<typeof createZstdDecompress>
type Bytes = AsyncIterable<Buffer>

const CHUNK_BYTES = 262_144
const WINDOW_LOG = 27 // 128 MiB

const FORMATS: { name: string; ending: string; magic: RegExp; open: () => Decoder }[] = [
  { name: 'gzip', ending: '.gz', magic: /^1f8b/, open: () => createGunzip({ chunkSize: CHUNK_BYTES }) },
  {
    name: 'zstd',
    ending: '.zst',
    magic: /^(28b52ffd|5.2a4d18)/, // a frame, or one that may be skipped (RFC 8878, chapter 3.1)
    open: () =>
      createZstdDecompress({ chunkSize: CHUNK_BYTES, params: { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG } }),
  },
]

/** Compressed data that ends too early or is damaged; everything before it was handed over. */
export class Damaged extends Error {}

/**
 * The plain bytes of a stream: compressed ones are told by their first bytes, too short a file by its name.
 * Throws Damaged at the end of what could be inflated.
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
  if (format === undefined) yield* all
  else yield* decoded(all, format.name, format.open)
}

async function* rejoin(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

/** One decoder after another, because Node's zstd ends with its first frame. */
async function* decoded(bytes: Bytes, format: string, open: () => Decoder): AsyncGenerator<Buffer> {
  let stage = staged(open())
  for await (const chunk of bytes) {
    for (let from = 0; from < chunk.length; ) {
      if (stage.hasEnded() && chunk.subarray(from).every((byte) => byte === 0)) break // padding, as gzip(1) reads it
      if (stage.hasEnded()) stage = staged(open())
      from += yield* stage.take(chunk.subarray(from), format)
    }
  }
  yield* stage.finish(format)
}

/** A decoder that is fed by hand: an error never takes back what was inflated before it. */
function staged(decoder: Decoder) {
  let outcome: Error | 'end' | null = null
  let isTaken = true
  let wake = (): void => {}
  const settle = (with_: Error | 'end'): void => {
    outcome ??= with_
    wake()
  }
  decoder
    .on('error', settle)
    .on('end', () => settle('end'))
    .on('readable', () => wake())
  async function* drain(): AsyncGenerator<Buffer> {
    for (;;) {
      const part = decoder.read() as Buffer | null
      if (part !== null) yield part
      else if (isTaken || outcome !== null) return
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  }
  const complain = (format: string): void => {
    if (!(outcome instanceof Error)) return
    const isCut = (outcome as NodeJS.ErrnoException).code === 'Z_BUF_ERROR'
    throw new Damaged(isCut ? `the ${format} data is cut off` : `the ${format} data is damaged (${outcome.message})`)
  }
  return {
    hasEnded: () => outcome === 'end',
    /** Yields what the chunk inflates to; returns how many of its bytes were used. */
    async *take(chunk: Buffer, format: string): AsyncGenerator<Buffer, number> {
      const before = decoder.bytesWritten
      isTaken = false
      decoder.write(chunk, () => {
        isTaken = true
        wake()
      })
      yield* drain()
      complain(format)
      return decoder.bytesWritten - before
    },
    async *finish(format: string): AsyncGenerator<Buffer> {
      if (outcome !== null) return
      isTaken = false
      decoder.end()
      yield* drain()
      complain(format)
    },
  }
}
