/** The sender of files: whole or a range, as fast as the client takes it and with one piece of it in memory. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FileManifest, FileName, FileStore, OpenedFile } from '../../../jobs/file-store/file-store.ts'
import { COMMON_HEADERS, corsHeaders, type Headers } from '../headers.ts'
import { formatHttpDate } from '../http-date.ts'
import { isLastResponse, type ResponseContext } from '../response.ts'
import { type ByteRange, evaluatePreconditions, requestedRange } from './preconditions.ts'

/** The shelf, for who hands out what lies there. */
export type ReadableFileStore = Pick<FileStore, 'open' | 'list'>

/** A file for one caller, and what its download is called. */
export type FileDownload = { file: OpenedFile; disposition: string }

/** What is sent of a file; `range` null for no byte. */
export type FileResponse = { status: 200 | 206 | 304 | 412 | 416; range: ByteRange | null; headers: Headers }

/** A file that may be handed out; null for none, and for one that is held back. */
export async function openPublished(fileStore: ReadableFileStore, name: FileName): Promise<OpenedFile | null> {
  const opened = await fileStore.open(name)
  if (opened === null || opened.manifest.held === null) return opened
  await opened.close()
  return null
}

/** What a request gets. Conditions and ranges are those of GET; a POST gets all, whatever they say. */
export function prepareFileResponse(
  { method, headers }: FastifyRequest,
  { file: opened, disposition }: FileDownload,
): FileResponse {
  const { manifest } = opened
  const size = manifest.bytes
  const validators = { etag: fileEtag(manifest), modified: manifest.generated }
  const commonHeaders = ['ETag', validators.etag, 'Last-Modified', formatHttpDate(validators.modified)]
  const judgement = method === 'POST' ? 'send' : evaluatePreconditions(headers, validators)
  if (judgement !== 'send') return { status: judgement, range: null, headers: commonHeaders }
  const requested = method === 'GET' ? requestedRange(headers, size, validators) : null
  if (requested === 416)
    return { status: 416, range: null, headers: ['Content-Range', `bytes */${size}`, ...commonHeaders] }
  const { start, end } = requested ?? { start: 0, end: size }
  const sent = [...commonHeaders, 'Content-Type', 'application/gzip', 'Content-Length', String(end - start)]
  sent.push('Content-Disposition', disposition, 'Repr-Digest', reprDigest(manifest))
  if (method !== 'POST') sent.push('Accept-Ranges', 'bytes')
  if (requested !== null) sent.push('Content-Range', `bytes ${start}-${end - 1}/${size}`)
  const range = method === 'HEAD' ? null : { start, end }
  return { status: requested === null ? 200 : 206, range, headers: sent }
}

/** Sends a part. Resolves when all of it is handed over, or the client is gone; throws where the file cannot be read. */
export async function sendFileResponse(
  context: ResponseContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { file: opened }: FileDownload,
  { status, range, headers }: FileResponse,
): Promise<void> {
  const { raw } = reply
  if (raw.destroyed) return
  if (context.isDraining && isLastResponse(request)) raw.shouldKeepAlive = false
  const common = ['Request-Id', request.id, ...COMMON_HEADERS, ...corsHeaders(context.cors, request.headers.origin)]
  raw.writeHead(status, [...common, ...headers])
  if (range === null) return void raw.end()
  try {
    for await (const piece of opened.read(range.start, range.end)) {
      if (!(await writeChunk(context, raw, piece))) return
    }
    raw.end()
  } catch (error) {
    raw.destroy()
    throw error
  }
}

/**
 * Resolves when the connection has taken a piece, and to false where it is gone: what is written after the client has gone,
 * and before the answer has heard of it, is never called back.
 */
function writeChunk(context: ResponseContext, raw: FastifyReply['raw'], piece: Uint8Array): Promise<boolean> {
  if (raw.destroyed) return Promise.resolve(false)
  context.unsentBytes += piece.length
  const taken = new Promise<boolean>((resolve) => {
    const onClose = (): void => resolve(false)
    raw.once('close', onClose)
    raw.write(piece, (error) => {
      raw.off('close', onClose)
      resolve(!error)
    })
  })
  return taken.finally(() => {
    context.unsentBytes -= piece.length
  })
}

/** By its bytes, so that a file that was made anew with the same ones can be resumed. */
function fileEtag({ sha256 }: FileManifest): string {
  return `"${sha256.slice(0, 32)}"`
}

/** RFC 9530, chapter 3: of the whole file, also where a part is sent. */
function reprDigest({ sha256 }: FileManifest): string {
  return `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`
}
