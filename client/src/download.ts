/** Downloads a file as a stream that resumes after faults and ends only if all bytes have the digest of the file. */

import { DownloadError, InvalidResponseError, NetworkError } from './errors.ts'
import { type Bytes, chunksOf } from './response-body.ts'
import { withResumption, withRetries } from './retry.ts'
import type { Sha256Hasher } from './sha256.ts'
import type { CallOptions, Transport } from './transport.ts'

/** The beginning of a file that the caller has. */
export type Resume = {
  /** How many bytes the caller has. */
  from: number
  /** The `etag` of the download that they are from. */
  etag: string
  /** A SHA-256 that has received these bytes: the digest covers the whole file. */
  hash: Sha256Hasher
}

export type DownloadOptions = CallOptions & { resume?: Resume | undefined }

export type Download = {
  filename: string
  /** Bytes of the whole file; null if the response does not say. */
  size: number | null
  /** Names these bytes of the file: another content has another one. */
  etag: string
  /** SHA-256 of the whole file, in hexadecimal. */
  sha256: string
  /**
   * The file, or with `resume` the rest of it. Faults of the network are repaired by requests for the rest. It ends
   * with a DownloadError if the bytes are not those of the file, so use them only after its end.
   */
  body: ReadableStream<Bytes>
}

/** A response with the bytes from `start` on. */
type Part = Pick<Download, 'size' | 'etag' | 'sha256'> & { response: Response; start: number }

/** Requests a file, and returns when its first response has come. */
export async function openDownload(
  transport: Transport,
  filename: string,
  newHash: () => Sha256Hasher,
  { resume, signal }: DownloadOptions,
): Promise<Download> {
  const { from, etag: expected, hash } = resume ?? { from: 0, etag: null, hash: newHash() }
  const request = (position: number, etag: string | null): Promise<Part> =>
    requestPart(transport, filename, position, etag, signal)
  const first = await withRetries(transport.policy, () => request(from, expected), signal)
  const bytes = fileBytes(transport, first, from, hash, (position) => request(position, first.etag), signal)
  const { size, etag, sha256 } = first
  return { filename, size, etag, sha256, body: streamOf(bytes, first.response) }
}

/** Requests the bytes from a position on. Throws a DownloadError if the file is another one than `etag` names. */
async function requestPart(
  transport: Transport,
  filename: string,
  position: number,
  etag: string | null,
  signal: AbortSignal | undefined,
): Promise<Part> {
  const headers: Record<string, string> = { ...transport.bearer(), 'Accept-Encoding': 'identity' }
  if (position > 0 && etag !== null) {
    headers.Range = `bytes=${position - 1}-` // one byte more: behind the end of a file, a server refuses the range
    headers['If-Range'] = etag
  }
  const path = `files/${encodeURIComponent(filename)}`
  const response = await transport.send({ method: 'GET', path, headers }, signal).catch((error) => {
    throw error instanceof InvalidResponseError && error.status === 416 ? mismatch() : error
  })
  try {
    const part = readHead(response)
    if (etag !== null && (part.etag !== etag || part.start > position))
      throw new DownloadError('file_changed', `The file ${filename} has changed: download it from the start.`)
    return part
  } catch (error) {
    await response.body?.cancel()
    throw error
  }
}

function readHead(response: Response): Part {
  const { status, headers } = response
  const etag = headers.get('etag')
  const digest = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):/.exec(headers.get('repr-digest') ?? '')?.[1]
  if (etag === null || digest === undefined)
    throw new InvalidResponseError('The response has no ETag or no Repr-Digest: check the address and proxies.', status)
  const sha256 = hex(Uint8Array.from(atob(digest), (character) => character.charCodeAt(0)))
  if (status === 206) {
    const [, start, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? []
    if (size === undefined) throw new InvalidResponseError('The response has no Content-Range.', status)
    return { response, start: Number(start), size: Number(size), etag, sha256 }
  }
  const length = headers.get('content-length')
  return { response, start: 0, size: length === null ? null : Number(length), etag, sha256 }
}

/** The bytes from `start` to the end of the file. Throws a DownloadError if the whole has another digest. */
async function* fileBytes(
  { policy }: Transport,
  first: Part,
  start: number,
  hash: Sha256Hasher,
  request: (position: number) => Promise<Part>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Bytes, void, void> {
  const { size, sha256 } = first
  let position = start
  let opened: Part | null = first
  async function* rest(): AsyncGenerator<Bytes, void, void> {
    const part = opened ?? (await request(position))
    opened = null
    for await (const chunk of chunksFrom(part, position)) {
      position += chunk.length
      if (size !== null && position > size) throw mismatch()
      hash.update(chunk)
      yield chunk
    }
    if (size !== null && position < size) throw new NetworkError('The connection ended before the file.', null)
  }
  yield* withResumption(policy, rest, signal)
  if (hex(hash.digest()) !== sha256) throw mismatch()
}

/** The chunks of a part without the bytes before `position`. */
async function* chunksFrom({ response, start }: Part, position: number): AsyncGenerator<Bytes, void, void> {
  let surplus = position - start
  for await (const chunk of chunksOf(response)) {
    if (surplus < chunk.length) yield surplus === 0 ? chunk : chunk.subarray(surplus)
    surplus = Math.max(0, surplus - chunk.length)
  }
}

/** A stream that reads the next chunk when it is asked for one. */
function streamOf(chunks: AsyncGenerator<Bytes, void, void>, first: Response): ReadableStream<Bytes> {
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const { value, done } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value as Bytes)
      },
      async cancel() {
        await chunks.return()
        if (first.body?.locked === false) await first.body.cancel() // nothing was read
      },
    },
    { highWaterMark: 0 },
  )
}

function mismatch(): DownloadError {
  return new DownloadError('digest_mismatch', 'The bytes are not those of the file: download it from the start.')
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
