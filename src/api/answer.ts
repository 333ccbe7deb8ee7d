/** The wire, outward: sends an answer, its body gzipped for who takes that, a long one piece by piece. */

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip, gzip as gzipCallback } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { turn } from '../store/turn.ts'
import { connectionOf } from './connection.ts'
import type { Envelope, Refusal } from './errors.ts'
import { COMMON, type Cors, type Headers, readable } from './headers.ts'
import { takesGzip } from './wire.ts'

const gzip = promisify(gzipCallback)

/** Bodies of more bytes are gzipped. */
const PLAIN_BYTES = 1_024
/** Bodies of more bytes are sent in pieces of this many characters. */
const PIECE = 131_072
/** After a ready piece of more bytes other requests have their turn. */
const TURN_BYTES = 4_096
/** Pages are big and read once: the quickest level, and few chunks. */
const GZIP = { level: 1, chunkSize: PIECE }

/** A JSON text in parts, the ready ones as UTF-8, so that a long one need not be copied; none at all where there is no body. */
export type Body = readonly (string | Uint8Array)[]

/**
 * What is to be sent. `type`: of a body that is not JSON. `isFixed`: the same array of bytes goes to every client, so it is
 * gzipped once, and no client holds a copy of its own.
 */
export type Reply = { status: number; body: Body; headers: Headers; type?: string; isFixed?: true }

/** What all answers of a process share. */
export type Outlet = {
  readonly cors: Cors
  /** Bytes of answers that clients have not taken yet. */
  unsent: number
  /** Every answer is the last of its connection. */
  isDraining: boolean
}

/** Whether the answer to a request has to be the last one of its connection, because the server drains. */
export function isLastAnswer(request: Pick<FastifyRequest, 'raw'>): boolean {
  return connectionOf(request.raw)?.takesLastAnswer() ?? true
}

/** Sends an answer; to a client that is gone, nothing. Resolves when it is handed over to the connection. */
export async function send(outlet: Outlet, request: FastifyRequest, reply: FastifyReply, answer: Reply): Promise<void> {
  const { raw } = reply
  const { body } = answer
  const headers = ['Request-Id', request.id, ...COMMON, ...readable(outlet.cors, request.headers.origin)]
  headers.push(...answer.headers)
  if (body.length > 0) headers.push('Content-Type', answer.type ?? 'application/json; charset=utf-8')
  let length = lengthOf(body)
  const isZipped = length > PLAIN_BYTES && takesGzip(request.headers['accept-encoding'])
  if (isZipped) headers.push('Content-Encoding', 'gzip')
  const isLong = length > PIECE
  const content = isLong ? null : isZipped ? await zip(answer) : whole(body)
  if (content instanceof Buffer) length = content.length
  if (body.length > 0 && !(isLong && isZipped)) headers.push('Content-Length', String(length))
  if (raw.destroyed) return
  if (!answer.isFixed) countUnsent(outlet, request, length)
  if (outlet.isDraining && isLastAnswer(request)) raw.shouldKeepAlive = false
  raw.writeHead(answer.status, headers)
  if (content !== null || request.method === 'HEAD') raw.end(content)
  else await sendPieces(raw, body, isZipped)
}

function countUnsent(outlet: Outlet, { visit }: FastifyRequest, length: number): void {
  outlet.unsent += length
  visit.end.push(() => {
    outlet.unsent -= length
  })
}

const zippedBodies = new WeakMap<Body, Promise<Buffer>>()

function zip({ body, isFixed }: Reply): Promise<Buffer> {
  const zipped = zippedBodies.get(body) ?? gzip(whole(body), GZIP)
  if (isFixed) zippedBodies.set(body, zipped)
  return zipped
}

function lengthOf(body: Body): number {
  let length = 0
  for (const part of body) length += Buffer.byteLength(part)
  return length
}

/** A short body in one: a text where it has no ready parts. */
function whole(body: Body): string | Buffer {
  const [first] = body
  if (body.length === 1 && first instanceof Buffer) return first
  if (body.every((part) => typeof part === 'string')) return body.join('')
  return Buffer.concat(body.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
}

/** Sends a long body as fast as the client takes it; one that goes away meanwhile is no fault. */
async function sendPieces(raw: FastifyReply['raw'], body: Body, isZipped: boolean): Promise<void> {
  const source = Readable.from(pieces(body))
  const sending = isZipped ? pipeline(source, createGzip(GZIP), raw) : pipeline(source, raw)
  await sending.catch(() => raw.destroy())
}

/** Pieces between which other requests have their turn; none ends within a character. */
async function* pieces(body: Body): AsyncGenerator<Uint8Array> {
  for (const part of body) {
    if (typeof part !== 'string') {
      yield part
      if (part.length > TURN_BYTES) await turn()
      continue
    }
    for (let at = 0; at < part.length; ) {
      const last = part.charCodeAt(at + PIECE - 1)
      const end = at + PIECE - (last >= 0xd800 && last < 0xdc00 ? 1 : 0)
      yield Buffer.from(part.slice(at, end))
      at = end
      await turn()
    }
  }
}

/** The error's answer in its endpoint's place. */
export function refusalReply(refusal: Refusal, envelope: Envelope, headers: Headers = []): Reply {
  const { status, retryAfter } = refusal
  const retry = retryAfter === null ? [] : ['Retry-After', String(retryAfter)]
  return { status, body: [refusal.body(envelope)], headers: [...headers, ...retry] }
}
