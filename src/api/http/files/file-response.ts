/**
 * Sends a file or a range of it, as fast as the client reads it, with one chunk in memory. Evaluates the conditions and
 * the range of its request first (RFC 9110, sections 13 and 14).
 */

import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { FileManifest, FileName, FileStore, OpenedFile } from '../../../jobs/file-store/file-store.ts'
import type { Instant } from '../../../values/time.ts'
import type { ApiReply, ApiRequest } from '../exchange.ts'
import { COMMON_HEADERS, formatHttpDate, type Headers, parseHttpDate } from '../headers.ts'
import { crossOriginHeaders, isLastResponse, type ResponseContext } from '../response.ts'

/** The validators of a file: a strong entity tag, and the modification time, which differs between revisions. */
type Validators = { etag: string; modified: Instant }

/** 304: the client already has the file. 412: it is not the file that the client expects. */
type PreconditionResult = 'send' | 304 | 412

/** A range of bytes. `end` is exclusive. */
type ByteRange = { start: number; end: number }

const headerDate = (header: string | undefined): Instant | null => (header === undefined ? null : parseHttpDate(header))

/** The part of the file store that downloads need. */
export type ReadableFileStore = Pick<FileStore, 'open' | 'list'>

/** A file and the Content-Disposition of its download. */
export type FileDownload = { file: OpenedFile; disposition: string }

/** The response to a request for a file. `range`: the bytes to send; null for none. */
export type FileResponse = { status: 200 | 206 | 304 | 412 | 416; range: ByteRange | null; headers: Headers }

/** Opens a file; null if there is none, or if it is held. */
export async function openPublished(fileStore: ReadableFileStore, name: FileName): Promise<OpenedFile | null> {
  const opened = await fileStore.open(name)
  if (opened === null || opened.manifest.held === null) return opened
  await opened.close()
  return null
}

/** The response to a request. Conditions apply to GET and HEAD, ranges to GET. A POST always gets the whole file. */
export function prepareFileResponse(
  { method, headers }: Pick<ApiRequest, 'method' | 'headers'>,
  { file, disposition }: FileDownload,
): FileResponse {
  const { manifest } = file
  const size = manifest.bytes
  const validators = { etag: fileEtag(manifest), modified: manifest.generated }
  const commonHeaders = ['ETag', validators.etag, 'Last-Modified', formatHttpDate(validators.modified)]
  const outcome = method === 'POST' ? 'send' : evaluatePreconditions(headers, validators)
  if (outcome !== 'send') return { status: outcome, range: null, headers: commonHeaders }
  const requested = method === 'GET' ? requestedRange(headers, size, validators) : null
  if (requested === 416)
    return { status: 416, range: null, headers: ['Content-Range', `bytes */${size}`, ...commonHeaders] }
  const { start, end } = requested ?? { start: 0, end: size }
  const contentType = manifest.name.endsWith('.parquet') ? 'application/vnd.apache.parquet' : 'application/gzip'
  const sent = [...commonHeaders, 'Content-Type', contentType, 'Content-Length', String(end - start)]
  sent.push('Content-Disposition', disposition, 'Repr-Digest', reprDigest(manifest))
  if (method !== 'POST') sent.push('Accept-Ranges', 'bytes')
  if (requested !== null) sent.push('Content-Range', `bytes ${start}-${end - 1}/${size}`)
  const range = method === 'HEAD' ? null : { start, end }
  return { status: requested === null ? 200 : 206, range, headers: sent }
}

/** Sends a response. Resolves when all is written or the client has disconnected. Throws if the file cannot be read. */
export async function sendFileResponse(
  context: ResponseContext,
  request: ApiRequest,
  reply: ApiReply,
  { file }: FileDownload,
  { status, range, headers }: FileResponse,
): Promise<void> {
  if (request.raw.socket.destroyed) return
  const { raw } = reply
  if (context.isDraining && isLastResponse(request)) raw.shouldKeepAlive = false
  const common = ['Request-Id', request.id, ...COMMON_HEADERS, ...crossOriginHeaders(context, request)]
  raw.writeHead(status, [...common, ...headers])
  if (range === null) return void raw.end()
  try {
    for await (const chunk of file.read(range.start, range.end)) {
      if (!(await writeChunk(context, raw, chunk))) return
    }
    raw.end()
  } catch (error) {
    raw.destroy()
    throw error
  }
}

/**
 * Resolves to true when the chunk is written, and to false if the connection closes. The callback of `write` alone does
 * not suffice: it is never called for a write between the disconnect and the `close` event.
 */
function writeChunk(context: ResponseContext, raw: ServerResponse, chunk: Uint8Array): Promise<boolean> {
  if (raw.destroyed) return Promise.resolve(false)
  context.unsentBytes += chunk.length
  const written = new Promise<boolean>((resolve) => {
    const onClose = (): void => resolve(false)
    raw.once('close', onClose)
    raw.write(chunk, (error) => {
      raw.off('close', onClose)
      resolve(!error)
    })
  })
  return written.finally(() => {
    context.unsentBytes -= chunk.length
  })
}

/** The entity tag. It depends only on the bytes, so that downloads of a file that was rebuilt equally can resume. */
export function fileEtag({ sha256 }: FileManifest): string {
  return `"${sha256.slice(0, 32)}"`
}

/** RFC 9530, section 3: the digest of the whole file, even if a range is sent. */
function reprDigest({ sha256 }: FileManifest): string {
  return `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`
}

/** Evaluates the conditions in the order of section 13.2.2. */
function evaluatePreconditions(headers: IncomingHttpHeaders, { etag, modified }: Validators): PreconditionResult {
  const match = headers['if-match']
  const noneMatch = headers['if-none-match']
  if (match !== undefined) {
    if (!listHasTag(match, etag, 'strong')) return 412
  } else if (modified > (headerDate(headers['if-unmodified-since']) ?? Infinity)) return 412
  if (noneMatch !== undefined) return listHasTag(noneMatch, etag, 'weak') ? 304 : 'send'
  return modified <= (headerDate(headers['if-modified-since']) ?? -Infinity) ? 304 : 'send'
}

/**
 * The range that a GET requests of a file of `size` bytes; null for the whole file. The result is also null if If-Range
 * does not match, if the range is malformed or of another unit, and if there are several ranges.
 */
function requestedRange(headers: IncomingHttpHeaders, size: number, validators: Validators): ByteRange | 416 | null {
  const { range, 'if-range': condition } = headers
  if (range === undefined || !ifRangeMatches(condition, validators)) return null
  const [, set] = /^bytes=(.*)$/i.exec(range) ?? []
  const specs = (set ?? '').split(',').flatMap((spec) => spec.trim() || [])
  return specs.length === 1 ? parseByteRange(specs[0]!, size) : null
}

function parseByteRange(spec: string, size: number): ByteRange | 416 | null {
  const [, first, last, suffix] = /^(?:(\d+)-(\d*)|-(\d+))$/.exec(spec) ?? []
  if (suffix !== undefined) return Number(suffix) > 0 ? { start: Math.max(0, size - Number(suffix)), end: size } : 416
  if (first === undefined || (last && Number(last) < Number(first))) return null
  if (Number(first) >= size) return 416
  return { start: Number(first), end: last ? Math.min(size, Number(last) + 1) : size }
}

/** Whether If-Range matches. A weak tag never matches, and a date only if it is equal. */
function ifRangeMatches(condition: string | string[] | undefined, { etag, modified }: Validators): boolean {
  if (condition === undefined) return true
  const text = String(condition).trim()
  return text.includes('"') ? text === etag : parseHttpDate(text) === modified
}

/** Whether a list of entity tags contains this tag, or is `*`. */
export function listHasTag(header: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (header.trim() === '*') return true
  const tags = header.match(/(?:W\/)?"[^"]*"/g) ?? []
  return tags.some((tag) => (comparison === 'weak' ? tag.replace(/^W\//, '') : tag) === etag)
}
