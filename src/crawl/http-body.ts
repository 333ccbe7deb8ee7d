/** The body of an answer: one content encoding taken off, up to bounds. */

import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  constants as zlib,
  zstdDecompressSync,
} from 'node:zlib'

/** `plain`: as it is; `unreadable`: more than one layer, or one that we do not speak. */
export type Encoding = Packing | 'plain' | 'unreadable'
type Packing = 'gzip' | 'deflate' | 'br' | 'zstd'

/** Bytes on the wire and decoded, and how many times as many may come out of a decoder once `ratioFrom` are out. */
export type BodyBounds = { wireBytes: number; decodedBytes: number; ratio: number; ratioFrom: number }

/**
 * Takes bytes as they were sent. `done`: no more are wanted: a bound is reached, or they cannot be decoded. `end` resolves
 * when all is handed on that can be.
 */
export type Unpacker = { write(chunk: Uint8Array): void; readonly done: boolean; end(): Promise<void> }

type Decoder = ReturnType<typeof createGunzip | typeof createBrotliDecompress | typeof createZstdDecompress>

export const ACCEPTED = 'gzip, deflate, br, zstd'

const SPOKEN = new Map<string, Packing>([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ['zstd', 'zstd'],
])
/** The other names of the registry (RFC 9110, chapter 16.6.1). What stands in no registry is no encoding: browsers ignore it. */
const UNSPOKEN = new Set(['compress', 'x-compress', 'aes128gcm', 'dcb', 'dcz', 'exi', 'pack200-gzip'])
const DEFLATED = 8 // the method in the low half of a zlib head (RFC 1950, chapter 2.2)
const PIECE_BYTES = 64 * 1024
const SMALL_BYTES = 64 * 1024
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
export function unpacker(encoding: Packing | 'plain', bounds: BodyBounds, sink: (chunk: Uint8Array) => void): Unpacker {
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

/** A small body is decoded in one go, a long one, and one that does not decode to its end, as a stream. */
class Packed implements Unpacker {
  readonly #encoding: Packing
  readonly #bounds: BodyBounds
  readonly #sink: (chunk: Uint8Array) => void
  #small: Uint8Array[] = []
  #decoder: Decoder | null = null
  #wire = 0
  #decoded = 0
  done = false

  constructor(encoding: Packing, bounds: BodyBounds, sink: (chunk: Uint8Array) => void) {
    this.#encoding = encoding
    this.#bounds = bounds
    this.#sink = sink
  }

  write(chunk: Uint8Array): void {
    const taken = chunk.subarray(0, this.#bounds.wireBytes - this.#wire)
    if (this.done || taken.length === 0) return
    this.#wire += taken.length
    if (this.#decoder !== null) this.#decoder.write(taken)
    else {
      this.#small.push(taken)
      if (this.#wire > SMALL_BYTES) this.#stream()
    }
    if (this.#wire >= this.#bounds.wireBytes) this.done = true
  }

  end(): Promise<void> {
    if (this.#decoder === null && this.#decodeSmall()) return Promise.resolve()
    const decoder = this.#decoder ?? this.#stream()
    if (decoder.closed) return Promise.resolve()
    return new Promise((resolve) => {
      decoder.once('close', resolve)
      decoder.end()
    })
  }

  /** False where it does not decode, or not within bounds: the stream then hands on what there is. */
  #decodeSmall(): boolean {
    const packed = Buffer.concat(this.#small)
    if (packed.length === 0) return true
    const { decodedBytes, ratio, ratioFrom } = this.#bounds
    const most = Math.min(decodedBytes, Math.max(ratioFrom, ratio * packed.length))
    try {
      const { decode, options } = packingOf(this.#encoding, packed[0]!)
      this.#sink(decode(packed, { ...options, maxOutputLength: most }))
      return true
    } catch {
      return false
    }
  }

  #stream(): Decoder {
    const { stream, options } = packingOf(this.#encoding, this.#small[0]![0]!)
    const decoder = stream(options)
    this.#decoder = decoder
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
    for (const chunk of this.#small.splice(0)) decoder.write(chunk)
    return decoder
  }

  #overBound(): boolean {
    const { decodedBytes, ratio, ratioFrom } = this.#bounds
    return this.#decoded >= decodedBytes || (this.#decoded > ratioFrom && this.#decoded > ratio * this.#wire)
  }
}

/** How bodies of one encoding are decoded, in one go and as a stream, with options for both: a cut-off end is no error. */
type Way = {
  decode(packed: Buffer, options: object): Buffer
  stream(options: object): Decoder
  options: object
}

const DEFLATE = { chunkSize: PIECE_BYTES, finishFlush: zlib.Z_SYNC_FLUSH }
const GZIP_WAY: Way = { decode: gunzipSync, stream: createGunzip, options: DEFLATE }
const ZLIB_WAY: Way = { decode: inflateSync, stream: createInflate, options: DEFLATE }
const RAW_WAY: Way = { decode: inflateRawSync, stream: createInflateRaw, options: DEFLATE }
const BROTLI_WAY: Way = {
  decode: brotliDecompressSync,
  stream: createBrotliDecompress,
  options: { chunkSize: PIECE_BYTES, finishFlush: zlib.BROTLI_OPERATION_FLUSH },
}
const ZSTD_WAY: Way = {
  decode: zstdDecompressSync,
  stream: createZstdDecompress,
  options: {
    chunkSize: PIECE_BYTES,
    finishFlush: zlib.ZSTD_e_flush,
    params: { [zlib.ZSTD_d_windowLogMax]: ZSTD_WINDOW },
  },
}

/** `first`: the first byte of the body, which tells a zlib head from deflate without one, as some servers send it. */
function packingOf(encoding: Packing, first: number): Way {
  if (encoding === 'gzip') return GZIP_WAY
  if (encoding === 'br') return BROTLI_WAY
  if (encoding === 'zstd') return ZSTD_WAY
  return (first & 15) === DEFLATED ? ZLIB_WAY : RAW_WAY
}
