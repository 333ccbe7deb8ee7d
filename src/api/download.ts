/** The sender of files: whole or a range, as fast as the client takes it and with one piece of it in memory. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FileName, Manifest, Opened, Shelf } from '../nightly/shelf.ts'
import { isLastAnswer, type Outlet } from './answer.ts'
import { judge, type Range, rangeOf } from './conditions.ts'
import { COMMON, type Headers, readable } from './headers.ts'
import { formatHttpDate } from './http-date.ts'

/** The shelf, for who hands out what lies there. */
export type Reading = Pick<Shelf, 'open' | 'list'>

/** A file for one caller, and what its download is called. */
export type Download = { opened: Opened; disposition: string }

/** What is sent of a file; `range` null for no byte. */
export type Part = { status: 200 | 206 | 304 | 412 | 416; range: Range | null; headers: Headers }

/** A file that may be handed out; null for none, and for one that is held back. */
export async function openUnheld(shelf: Reading, name: FileName): Promise<Opened | null> {
  const opened = await shelf.open(name)
  if (opened === null || opened.manifest.held === null) return opened
  await opened.close()
  return null
}

/** What a request gets. Conditions and ranges are those of GET; a POST gets all, whatever they say. */
export function partOf({ method, headers }: FastifyRequest, { opened, disposition }: Download): Part {
  const { manifest } = opened
  const size = manifest.bytes
  const validators = { etag: etagOf(manifest), modified: manifest.generated }
  const told = ['ETag', validators.etag, 'Last-Modified', formatHttpDate(validators.modified)]
  const judgement = method === 'POST' ? 'send' : judge(headers, validators)
  if (judgement !== 'send') return { status: judgement, range: null, headers: told }
  const asked = method === 'GET' ? rangeOf(headers, size, validators) : null
  if (asked === 416) return { status: 416, range: null, headers: ['Content-Range', `bytes */${size}`, ...told] }
  const { start, end } = asked ?? { start: 0, end: size }
  const sent = [...told, 'Content-Type', 'application/gzip', 'Content-Length', String(end - start)]
  sent.push('Content-Disposition', disposition, 'Repr-Digest', digestOf(manifest))
  if (method !== 'POST') sent.push('Accept-Ranges', 'bytes')
  if (asked !== null) sent.push('Content-Range', `bytes ${start}-${end - 1}/${size}`)
  const range = method === 'HEAD' ? null : { start, end }
  return { status: asked === null ? 200 : 206, range, headers: sent }
}

/** Sends a part. Resolves when all of it is handed over, or the client is gone; throws where the file cannot be read. */
export async function sendPart(
  outlet: Outlet,
  request: FastifyRequest,
  reply: FastifyReply,
  { opened }: Download,
  { status, range, headers }: Part,
): Promise<void> {
  const { raw } = reply
  if (raw.destroyed) return
  if (outlet.isDraining && isLastAnswer(request)) raw.shouldKeepAlive = false
  const common = ['Request-Id', request.id, ...COMMON, ...readable(outlet.cors, request.headers.origin)]
  raw.writeHead(status, [...common, ...headers])
  if (range === null) return void raw.end()
  try {
    for await (const piece of opened.read(range.start, range.end)) {
      if (!(await handOver(outlet, raw, piece))) return
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
function handOver(outlet: Outlet, raw: FastifyReply['raw'], piece: Uint8Array): Promise<boolean> {
  if (raw.destroyed) return Promise.resolve(false)
  outlet.unsent += piece.length
  const taken = new Promise<boolean>((resolve) => {
    const gone = (): void => resolve(false)
    raw.once('close', gone)
    raw.write(piece, (error) => {
      raw.off('close', gone)
      resolve(!error)
    })
  })
  return taken.finally(() => {
    outlet.unsent -= piece.length
  })
}

/** By its bytes, so that a file that was made anew with the same ones can be resumed. */
function etagOf({ sha256 }: Manifest): string {
  return `"${sha256.slice(0, 32)}"`
}

/** RFC 9530, chapter 3: of the whole file, also where a part is sent. */
function digestOf({ sha256 }: Manifest): string {
  return `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`
}
