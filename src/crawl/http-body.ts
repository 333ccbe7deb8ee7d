/** The body of an answer: one content encoding taken off, up to bounds. */

import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  constants as zlib,
} from 'node:zlib'

/** `plain`: as it is; `unreadable`: more than one layer, or one that we do not speak. */
export type Encoding = 'gzip' | 'deflate' | 'br' | 'zstd' | 'plain' | 'unreadable'

/** Bytes on the wire and decoded, and how many times as many may come out of a decoder once `ratioFrom` are out. */
export type BodyBounds = { wireBytes: number; decodedBytes: number; ratio: number; ratioFrom: number }

/**
 * Takes bytes as they were sent. `done`: no more are wanted: a bound is reached, or they cannot be decoded. `end` resolves
 * when all is handed on that can be.
 */
export type Unpacker = { write(chunk: Uint8Array): void; readonly done: boolean; end(): Promise<void> }

type Decoder = ReturnType<typeof createGunzip | typeof createBrotliDecompress | typeof createZstdDecompress>

export const ACCEPTED = 'gzip, deflate, br, zstd'

const SPOKEN = new Map<string, Encoding>([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ['zstd', 'zstd'],
])
/** The other names of the registry (RFC 9110, chapter 16.6.1). What stands in no registry is no encoding: browsers ignore it. */
const UNSPOKEN = new Set(['compress', 'x-compress', 'aes128gcm', 'dcb', 'dcz', 'exi', 'pack200-gzip'])
const DEFLATED = 8 // the method in the low half of a zlib head (RFC 1950, chapter 2.2)
const OUTPUT_BYTES = 64 * 1024
const ZSTD_WINDOW = 23 // 8 MiB, RFC 9659

/** The encoding that the Content-Encoding field names. */
export function encodingOf(field: string | null): Encoding {
  if (field === null) return 'plain'
  const names = field
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  const layers = names.filter((name) => SPOKEN.has(name) || UNSPOKEN.has(name))
  const [first, ...more] = layers
  if (first === undefined) return 'plain'
  return more.length > 0 ? 'unreadable' : (SPOKEN.get(first) ?? 'unreadable')
}

/** Hands the decoded bytes to `sink`, at most `decodedBytes` of them. */
export function unpacker(encoding: Encoding, bounds: BodyBounds, sink: (chunk: Uint8Array) => void): Unpacker {
  return encoding === 'plain' ? new Plain(bounds, sink) : new Packed(encoding, bounds, sink)
}

class Plain implements Unpacker {
  #room: number
  readonly #sink: (chunk: Uint8Array) => void

  constructor(bounds: BodyBounds, sink: (chunk: Uint8Array) => void) {
    this.#room = Math.min(bounds.wireBytes, bounds.decodedBytes)
    this.#sink = sink
  }

  get done(): boolean {
    return this.#room === 0
  }

  write(chunk: Uint8Array): void {
    const taken = chunk.length > this.#room ? chunk.subarray(0, this.#room) : chunk
    this.#room -= taken.length
    if (taken.length > 0) this.#sink(taken)
  }

  async end(): Promise<void> {}
}

class Packed implements Unpacker {
  readonly #encoding: Encoding
  readonly #bounds: BodyBounds
  readonly #sink: (chunk: Uint8Array) => void
  #decoder: Decoder | null = null
  #wire = 0
  #decoded = 0
  done = false

  constructor(encoding: Encoding, bounds: BodyBounds, sink: (chunk: Uint8Array) => void) {
    this.#encoding = encoding
    this.#bounds = bounds
    this.#sink = sink
  }

  write(chunk: Uint8Array): void {
    if (this.done || chunk.length === 0) return
    this.#decoder ??= this.#open(chunk[0]!)
    const taken = chunk.subarray(0, this.#bounds.wireBytes - this.#wire)
    this.#wire += taken.length
    this.#decoder.write(taken)
    if (this.#wire >= this.#bounds.wireBytes) this.done = true
  }

  end(): Promise<void> {
    const decoder = this.#decoder
    if (decoder === null || decoder.closed) return Promise.resolve()
    return new Promise((resolve) => {
      decoder.once('close', resolve)
      decoder.end()
    })
  }

  #open(first: number): Decoder {
    const decoder = decoderFor(this.#encoding, first)
    decoder.on('data', (chunk: Buffer) => {
      const room = this.#bounds.decodedBytes - this.#decoded
      this.#decoded += chunk.length
      if (room > 0) this.#sink(chunk.length > room ? chunk.subarray(0, room) : chunk)
      if (!this.#overBound()) return
      this.done = true
      decoder.destroy()
    })
    decoder.on('error', () => {
      this.done = true
    })
    return decoder
  }

  #overBound(): boolean {
    const { decodedBytes, ratio, ratioFrom } = this.#bounds
    return this.#decoded >= decodedBytes || (this.#decoded > ratioFrom && this.#decoded > ratio * this.#wire)
  }
}

/** `first`: the first byte of the body, which tells a zlib head from deflate without one, as some servers send it. */
function decoderFor(encoding: Encoding, first: number): Decoder {
  const options = { chunkSize: OUTPUT_BYTES, finishFlush: zlib.Z_SYNC_FLUSH }
  if (encoding === 'gzip') return createGunzip(options)
  if (encoding === 'deflate') return (first & 15) === DEFLATED ? createInflate(options) : createInflateRaw(options)
  if (encoding === 'br')
    return createBrotliDecompress({ chunkSize: OUTPUT_BYTES, finishFlush: zlib.BROTLI_OPERATION_FLUSH })
  return createZstdDecompress({
    chunkSize: OUTPUT_BYTES,
    finishFlush: zlib.ZSTD_e_flush,
    params: { [zlib.ZSTD_d_windowLogMax]: ZSTD_WINDOW },
  })
}
