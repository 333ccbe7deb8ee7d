/** The body of a response: decodes one content encoding, within limits. */

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

/** `plain`: not encoded; `unreadable`: more than one layer, or an unsupported encoding. */
type BodyEncoding = ContentCoding | 'plain' | 'unreadable'
type ContentCoding = 'gzip' | 'deflate' | 'br' | 'zstd'

/**
 * The largest number of bytes on the wire and decoded. `ratio`: the largest ratio of decoded bytes to wire bytes after
 * `ratioFrom` decoded bytes.
 */
export type BodyLimits = { wireBytes: number; decodedBytes: number; ratio: number; ratioFrom: number }

/**
 * Decodes chunks. `done`: it needs no more chunks, because it reached a limit or cannot decode them. `end` resolves
 * when all decodable bytes are passed on.
 */
export type BodyDecoder = { write(chunk: Uint8Array): void; readonly done: boolean; end(): Promise<void> }

type ZlibDecoder = ReturnType<typeof createGunzip | typeof createBrotliDecompress | typeof createZstdDecompress>

export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd'

const SUPPORTED_CODINGS = new Map<string, ContentCoding>([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ['zstd', 'zstd'],
])
/**
 * The other names of the registry (RFC 9110, section 16.6.1). An unregistered name is not an encoding. Browsers ignore
 * it.
 */
const UNSUPPORTED_CODINGS = new Set(['compress', 'x-compress', 'aes128gcm', 'dcb', 'dcz', 'exi', 'pack200-gzip'])
const DEFLATE_METHOD = 8 // the compression method in the low half of a zlib header (RFC 1950, section 2.2)
const CHUNK_BYTES = 64 * 1024
const MAX_SYNC_DECODE_BYTES = 64 * 1024
const ZSTD_WINDOW_LOG = 23 // 8 MiB, RFC 9659

/** Parses the Content-Encoding field. */
export function parseContentEncoding(field: string | null): BodyEncoding {
  if (field === null) return 'plain'
  const names = field
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  const layers = names.filter((name) => SUPPORTED_CODINGS.has(name) || UNSUPPORTED_CODINGS.has(name))
  const [first, ...more] = layers
  if (first === undefined) return 'plain'
  return more.length > 0 ? 'unreadable' : (SUPPORTED_CODINGS.get(first) ?? 'unreadable')
}

/** Passes at most `decodedBytes` decoded bytes to `sink`. */
export function makeBodyDecoder(
  encoding: ContentCoding | 'plain',
  limits: BodyLimits,
  sink: (chunk: Uint8Array) => void,
): BodyDecoder {
  return encoding === 'plain' ? new IdentityDecoder(limits, sink) : new CompressedDecoder(encoding, limits, sink)
}

class IdentityDecoder implements BodyDecoder {
  #bytesLeft: number
  readonly #sink: (chunk: Uint8Array) => void

  constructor(limits: BodyLimits, sink: (chunk: Uint8Array) => void) {
    this.#bytesLeft = Math.min(limits.wireBytes, limits.decodedBytes)
    this.#sink = sink
  }

  get done(): boolean {
    return this.#bytesLeft === 0
  }

  write(chunk: Uint8Array): void {
    const accepted = chunk.length > this.#bytesLeft ? chunk.subarray(0, this.#bytesLeft) : chunk
    this.#bytesLeft -= accepted.length
    if (accepted.length > 0) this.#sink(accepted)
  }

  async end(): Promise<void> {}
}

/** Decodes a small body at once. Streams a long one, and one that does not decode completely. */
class CompressedDecoder implements BodyDecoder {
  readonly #encoding: ContentCoding
  readonly #limits: BodyLimits
  readonly #sink: (chunk: Uint8Array) => void
  #buffered: Uint8Array[] = []
  #decoder: ZlibDecoder | null = null
  #wireBytes = 0
  #decodedBytes = 0
  done = false

  constructor(encoding: ContentCoding, limits: BodyLimits, sink: (chunk: Uint8Array) => void) {
    this.#encoding = encoding
    this.#limits = limits
    this.#sink = sink
  }

  write(chunk: Uint8Array): void {
    const accepted = chunk.subarray(0, this.#limits.wireBytes - this.#wireBytes)
    if (this.done || accepted.length === 0) return
    this.#wireBytes += accepted.length
    if (this.#decoder !== null) this.#decoder.write(accepted)
    else {
      this.#buffered.push(accepted)
      if (this.#wireBytes > MAX_SYNC_DECODE_BYTES) this.#stream()
    }
    if (this.#wireBytes >= this.#limits.wireBytes) this.done = true
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

  /**
   * Returns false if the body does not decode, or not within the limits. The stream then passes on what it can decode.
   */
  #decodeSmall(): boolean {
    const packed = Buffer.concat(this.#buffered)
    if (packed.length === 0) return true
    const { decodedBytes, ratio, ratioFrom } = this.#limits
    const maxBytes = Math.min(decodedBytes, Math.max(ratioFrom, ratio * packed.length))
    try {
      const { decodeSync, options } = decoderFor(this.#encoding, packed[0]!)
      this.#sink(decodeSync(packed, { ...options, maxOutputLength: maxBytes }))
      return true
    } catch {
      return false
    }
  }

  #stream(): ZlibDecoder {
    const { createStream, options } = decoderFor(this.#encoding, this.#buffered[0]![0]!)
    const decoder = createStream(options)
    this.#decoder = decoder
    decoder.on('data', (chunk: Buffer) => {
      const bytesLeft = this.#limits.decodedBytes - this.#decodedBytes
      this.#decodedBytes += chunk.length
      if (bytesLeft > 0) this.#sink(chunk.length > bytesLeft ? chunk.subarray(0, bytesLeft) : chunk)
      if (!this.#isOverLimit()) return
      this.done = true
      decoder.destroy()
    })
    decoder.on('error', () => {
      this.done = true
    })
    for (const chunk of this.#buffered.splice(0)) decoder.write(chunk)
    return decoder
  }

  #isOverLimit(): boolean {
    const { decodedBytes, ratio, ratioFrom } = this.#limits
    return (
      this.#decodedBytes >= decodedBytes ||
      (this.#decodedBytes > ratioFrom && this.#decodedBytes > ratio * this.#wireBytes)
    )
  }
}

/** The synchronous and the streaming decoder of an encoding, with options for both. A truncated end is not an error. */
type DecoderFactory = {
  decodeSync(packed: Buffer, options: object): Buffer
  createStream(options: object): ZlibDecoder
  options: object
}

const DEFLATE_OPTIONS = { chunkSize: CHUNK_BYTES, finishFlush: zlib.Z_SYNC_FLUSH }
const GZIP_DECODER: DecoderFactory = { decodeSync: gunzipSync, createStream: createGunzip, options: DEFLATE_OPTIONS }
const ZLIB_DECODER: DecoderFactory = { decodeSync: inflateSync, createStream: createInflate, options: DEFLATE_OPTIONS }
const RAW_DEFLATE_DECODER: DecoderFactory = {
  decodeSync: inflateRawSync,
  createStream: createInflateRaw,
  options: DEFLATE_OPTIONS,
}
const BROTLI_DECODER: DecoderFactory = {
  decodeSync: brotliDecompressSync,
  createStream: createBrotliDecompress,
  options: { chunkSize: CHUNK_BYTES, finishFlush: zlib.BROTLI_OPERATION_FLUSH },
}
const ZSTD_DECODER: DecoderFactory = {
  decodeSync: zstdDecompressSync,
  createStream: createZstdDecompress,
  options: {
    chunkSize: CHUNK_BYTES,
    finishFlush: zlib.ZSTD_e_flush,
    params: { [zlib.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG },
  },
}

/** `first`: the first byte of the body. It distinguishes a zlib header from raw deflate, which some servers send. */
function decoderFor(encoding: ContentCoding, first: number): DecoderFactory {
  if (encoding === 'gzip') return GZIP_DECODER
  if (encoding === 'br') return BROTLI_DECODER
  if (encoding === 'zstd') return ZSTD_DECODER
  return (first & 15) === DEFLATE_METHOD ? ZLIB_DECODER : RAW_DEFLATE_DECODER
}
