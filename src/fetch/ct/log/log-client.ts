/** HTTP requests to certificate logs and to lists of logs, bounded in size and time. */

import { pipeline } from 'node:stream'
import { createGunzip, gunzipSync } from 'node:zlib'
import { Agent, type Dispatcher, request } from 'undici'
import { errorCause } from '../../../import/stream/input-error.ts'
import { type MayConnect, vettedLookup } from '../../vetted-target.ts'
import { LogFault, LogUnavailable } from '../log.ts'
import { Slots } from '../slots.ts'

/** Returns the decoded body, or null if there is no such resource. */
export type LogGet = (url: string, maxBytes: number) => Promise<Buffer | null>

/**
 * `stream`: as `get`, but returns the pieces of the decoded body as they arrive, so that a body of any length takes
 * little memory. The caller iterates over them at once. `longReads`: for reads of which one at a time may be in memory.
 */
export type LogClient = {
  get: LogGet
  stream(url: string, maxBytes: number): Promise<AsyncGenerator<Buffer> | null>
  longReads: Slots
}

/** A body is longer than the caller accepts. */
export class BodyTooLarge extends LogFault {}

const REQUEST_TIMEOUT_MS = 60_000
const MAX_RETRY_AFTER_MS = 3_600_000

/**
 * Opens a client. Its functions throw LogUnavailable if the server does not answer with success, with the time that it
 * asks for, and BodyTooLarge if a body is longer than it may be. `mayConnect`: the addresses to which a name of a host
 * may lead; null: any.
 */
export function openLogClient(
  agent: string,
  signal: AbortSignal,
  mayConnect: MayConnect | null = null,
): LogClient & { close(): Promise<void> } {
  const dispatcher = new Agent({
    connections: 8,
    headersTimeout: REQUEST_TIMEOUT_MS,
    bodyTimeout: REQUEST_TIMEOUT_MS,
    connect: { timeout: REQUEST_TIMEOUT_MS, ...(mayConnect && { lookup: vettedLookup(mayConnect) }) },
  })
  const destroy = (): Promise<void> => dispatcher.destroy()
  signal.addEventListener('abort', destroy, { once: true })
  const headers = { 'user-agent': agent, 'accept-encoding': 'gzip' }
  const open = async (url: string): Promise<OpenBody | null> => {
    signal.throwIfAborted()
    return openBody(await requestInTime(url, { dispatcher, headers }), url)
  }
  const failure = (error: unknown, url: string): unknown => {
    signal.throwIfAborted()
    if (error instanceof LogUnavailable || error instanceof LogFault) return error
    return new LogUnavailable(`${new URL(url).host} cannot be read: ${errorCause(error)}`)
  }
  async function* piecesOf(opened: OpenBody, url: string, maxBytes: number): AsyncGenerator<Buffer> {
    try {
      for await (const piece of inflatedPieces(opened, url, maxBytes)) {
        signal.throwIfAborted() // some pieces are buffered
        yield piece
      }
    } catch (error) {
      throw failure(error, url)
    }
  }
  return {
    async get(url, maxBytes) {
      try {
        const opened = await open(url)
        return opened && (await readBody(opened, url, maxBytes))
      } catch (error) {
        throw failure(error, url)
      }
    },
    async stream(url, maxBytes) {
      try {
        const opened = await open(url)
        return opened && piecesOf(opened, url, maxBytes)
      } catch (error) {
        throw failure(error, url)
      }
    },
    longReads: new Slots(1),
    close() {
      signal.removeEventListener('abort', destroy)
      return destroy()
    },
  }
}

/**
 * Requests a resource. The caller reads its body to the end or destroys it. Rejects if no response comes in time; after
 * that time, the body fails. `AbortSignal.timeout` would keep each of tens of thousands of requests in memory until its
 * time is over.
 */
async function requestInTime(
  url: string,
  options: { dispatcher: Dispatcher; headers: Record<string, string> },
): Promise<Dispatcher.ResponseData> {
  const controller = new AbortController()
  const abort = (): void => controller.abort(new Error(`it took more than ${REQUEST_TIMEOUT_MS / 1000} s`))
  const timer = setTimeout(abort, REQUEST_TIMEOUT_MS).unref()
  try {
    const response = await request(url, { ...options, signal: controller.signal })
    response.body.once('close', () => clearTimeout(timer))
    return response
  } catch (error) {
    clearTimeout(timer)
    throw error
  }
}

type OpenBody = { body: Dispatcher.ResponseData['body']; isGzip: boolean }

async function openBody({ statusCode, headers, body }: Dispatcher.ResponseData, url: string): Promise<OpenBody | null> {
  if (statusCode !== 200) {
    await body.dump()
    if (statusCode === 404 || statusCode === 410) return null
    const retryAfterMs = Number(headers['retry-after']) * 1000
    throw new LogUnavailable(
      `${new URL(url).host} responded with status ${statusCode}`,
      retryAfterMs > 0 ? Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) : null,
    )
  }
  body.on('error', () => {}) // a reader that stops early does not listen any more
  const encoding = String(headers['content-encoding'] ?? 'identity')
  if (encoding === 'identity' || encoding === 'gzip') return { body, isGzip: encoding === 'gzip' }
  body.destroy()
  throw new LogFault(`${url} has the encoding ${encoding.slice(0, 40)}, which was not requested`)
}

async function readBody({ body, isGzip }: OpenBody, url: string, maxBytes: number): Promise<Buffer> {
  const bytes = await collect(body, url, maxBytes)
  return isGzip ? inflate(bytes, url, maxBytes) : bytes
}

async function* inflatedPieces({ body, isGzip }: OpenBody, url: string, maxBytes: number): AsyncGenerator<Buffer> {
  const pieces = isGzip ? pipeline(body, createGunzip({ chunkSize: 65_536 }), () => {}) : body // its reader sees errors
  let bytes = 0
  for await (const piece of pieces as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > maxBytes) throw tooLarge(url, maxBytes)
    yield piece
  }
}

/** In one step, which takes a third less than a stream: a data tile takes a millisecond. */
function inflate(bytes: Buffer, url: string, maxBytes: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes, chunkSize: 262_144 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(url, maxBytes)
    throw error
  }
}

function tooLarge(url: string, maxBytes: number): BodyTooLarge {
  return new BodyTooLarge(`${url} has more than ${maxBytes} bytes`)
}

async function collect(stream: AsyncIterable<Buffer>, url: string, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of stream) {
    bytes += piece.length
    if (bytes > maxBytes) throw tooLarge(url, maxBytes)
    pieces.push(piece)
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, bytes)
}
