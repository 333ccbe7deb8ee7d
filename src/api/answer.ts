/** The wire, outward: an answer with the headers that every answer has, its body gzipped for who takes that. */

import { promisify } from 'node:util'
import { gzip as gzipCallback } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clocked } from '../store/store.ts'
import { formatInstant, type Instant, secondsToMidnight } from '../words/time.ts'
import type { Envelope, Refusal } from './errors.ts'
import type { Caller } from './gate.ts'
import { takesGzip } from './wire.ts'

const gzip = promisify(gzipCallback)

/** Bodies of more bytes are gzipped. */
const PLAIN_BYTES = 1_024
/** Pages are big and read once: the quickest level, and few chunks. */
const GZIP = { level: 1, chunkSize: 262_144 }
const EXPOSED = 'Request-Id, RateLimit-Policy, RateLimit, Retry-After, Observed-At, Content-Disposition'
/** Seconds for which a browser may remember what a preflight said. */
const PREFLIGHT_AGE = '86400'

/** Names and values in turn, as node:http takes them. */
export type Headers = readonly string[]

/** Which web pages may read answers: all, or those of the origins listed. */
export type Cors = '*' | readonly string[]

/** What is to be sent; `body` null: nothing. */
export type Reply = { status: number; body: string | null; headers: Headers }

/** What all answers of a process share. */
export type Outlet = {
  readonly cors: Cors
  /** Bytes of answers that clients have not taken yet. */
  unsent: number
  /** Every answer is the last of its connection. */
  isDraining: boolean
}

/** Headers of every answer that is made for one reader. */
const COMMON: Headers = [
  'Cache-Control',
  'private, no-store',
  'Referrer-Policy',
  'no-referrer',
  'X-Content-Type-Options',
  'nosniff',
]

/** Headers of a document that Fastify sends. */
export function documentHeaders(requestId: string): Record<string, string> {
  return {
    'Request-Id': requestId,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Encoding',
  }
}

/** Fastify's hook that gzips the text of a document. */
export async function compress(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  const isText = typeof payload === 'string' && Buffer.byteLength(payload) > PLAIN_BYTES
  if (!isText || !takesGzip(request.headers['accept-encoding'])) return payload
  reply.header('Content-Encoding', 'gzip')
  return gzip(payload, GZIP)
}

/** Sends an answer; to a client that is gone, nothing. Resolves when it is handed over to the connection. */
export async function send(
  outlet: Outlet,
  request: FastifyRequest,
  { raw }: FastifyReply,
  reply: Reply,
): Promise<void> {
  const { status, body } = reply
  const headers = [
    'Request-Id',
    request.id,
    ...COMMON,
    ...readable(outlet.cors, request.headers.origin),
    ...reply.headers,
  ]
  let content: string | Buffer | null = body
  if (body !== null) {
    let length = Buffer.byteLength(body)
    headers.push('Content-Type', 'application/json; charset=utf-8')
    if (length > PLAIN_BYTES) {
      const isZipped = takesGzip(request.headers['accept-encoding'])
      content = isZipped ? await gzip(body, GZIP) : Buffer.from(body)
      length = content.length
      if (isZipped) headers.push('Content-Encoding', 'gzip')
    }
    headers.push('Content-Length', String(length))
    if (raw.destroyed) return
    outlet.unsent += length
    request.visit.end.push(() => {
      outlet.unsent -= length
    })
  }
  if (outlet.isDraining) raw.shouldKeepAlive = false
  raw.writeHead(status, headers)
  raw.end(content)
}

/** The error's answer in its endpoint's place. */
export function refusalReply(refusal: Refusal, envelope: Envelope, headers: Headers = []): Reply {
  const { status, retryAfter } = refusal
  const retry = retryAfter === null ? [] : ['Retry-After', String(retryAfter)]
  return { status, body: refusal.body(envelope), headers: [...headers, ...retry] }
}

/** RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-10) of a caller who has `remaining` calls left. */
export function rateHeaders({ limits, now }: Caller, remaining: number): string[] {
  return [
    'RateLimit-Policy',
    `"daily";q=${limits.queries};w=86400`,
    'RateLimit',
    `"daily";r=${remaining};t=${secondsToMidnight(now)}`,
  ]
}

/** Adds Observed-At, a dictionary (RFC 9651): when DNS and web were last looked at; nothing for never. */
export function addObserved(headers: string[], { dns, web }: Clocked): void {
  const both = dns !== null && web !== null
  if (dns === null && web === null) return
  const looks = (dns === null ? '' : look('dns', dns)) + (both ? ', ' : '') + (web === null ? '' : look('web', web))
  headers.push('Observed-At', looks)
}

function look(key: string, instant: Instant): string {
  return `${key}="${formatInstant(instant)}Z"`
}

/** The answer to OPTIONS: which methods a path has, and that browsers may send them. */
export function preflight(cors: Cors, allow: string): Reply {
  const granted = cors.length === 0 ? [] : ['Access-Control-Allow-Methods', allow]
  const further = [
    'Access-Control-Allow-Headers',
    'Content-Type, Accept, Authorization',
    'Access-Control-Max-Age',
    PREFLIGHT_AGE,
  ]
  return { status: 204, body: null, headers: ['Allow', allow, ...granted, ...(cors.length === 0 ? [] : further)] }
}

const OPEN: Headers = [
  'Vary',
  'Accept-Encoding',
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  EXPOSED,
]
const CLOSED: Headers = ['Vary', 'Accept-Encoding']

/** Vary, and whether the page of this origin may read the answer; never with credentials. */
function readable(cors: Cors, origin: string | undefined): Headers {
  if (cors === '*') return OPEN
  if (cors.length === 0) return CLOSED
  const vary = ['Vary', 'Accept-Encoding, Origin']
  if (origin === undefined || !cors.includes(origin)) return vary
  return [...vary, 'Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED]
}
