/** Sends a file or a range of it, as fast as the client reads it, with one chunk in memory. */

import type { ServerResponse } from 'node:http'
import type { FileManifest, FileName, FileStore, OpenedFile } from '../../../jobs/file-store/file-store.ts'
import type { ApiReply, ApiRequest } from '../exchange.ts'
import { COMMON_HEADERS, formatHttpDate, type Headers } from '../headers.ts'
import { crossOriginHeaders, isLastResponse, type ResponseContext } from '../response.ts'
import { type ByteRange, evaluatePreconditions, requestedRange } from './preconditions.ts'

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
