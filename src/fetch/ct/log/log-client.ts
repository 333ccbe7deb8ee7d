/** HTTP requests to certificate logs and to lists of logs, bounded in size and time. */

import { gunzipSync } from 'node:zlib'
import { Agent, type Dispatcher, request } from 'undici'
import { errorCause } from '../../../import/stream/input-error.ts'
import { LogFault, LogUnavailable } from '../log.ts'

/** Returns the decoded body, or null if there is no such resource. */
export type LogGet = (url: string, maxBytes: number) => Promise<Buffer | null>

const REQUEST_TIMEOUT_MS = 60_000
const MAX_RETRY_AFTER_MS = 3_600_000

/**
 * Opens a client. `get` throws LogUnavailable if the server does not answer with success, with the time that it asks
 * for, and LogFault if a body is longer than it may be.
 */
export function openLogClient(agent: string, signal: AbortSignal): { get: LogGet; close(): Promise<void> } {
  const dispatcher = new Agent({
    connections: 8,
    headersTimeout: REQUEST_TIMEOUT_MS,
    bodyTimeout: REQUEST_TIMEOUT_MS,
    connect: { timeout: REQUEST_TIMEOUT_MS },
  })
  const headers = { 'user-agent': agent, 'accept-encoding': 'gzip' }
  return {
    async get(url, maxBytes) {
      const both = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)])
      try {
        return await readResponse(await request(url, { dispatcher, headers, signal: both }), url, maxBytes)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof LogUnavailable || error instanceof LogFault) throw error
        throw new LogUnavailable(`${new URL(url).host} cannot be read: ${errorCause(error)}`)
      }
    },
    close: () => dispatcher.destroy(),
  }
}

async function readResponse(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  url: string,
  maxBytes: number,
): Promise<Buffer | null> {
  if (statusCode !== 200) {
    await body.dump()
    if (statusCode === 404 || statusCode === 410) return null
    const retryAfterMs = Number(headers['retry-after']) * 1000
    throw new LogUnavailable(
      `${new URL(url).host} responded with status ${statusCode}`,
      retryAfterMs > 0 ? Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) : null,
    )
  }
  const encoding = String(headers['content-encoding'] ?? 'identity')
  const bytes = await collect(body, url, maxBytes)
  if (encoding === 'identity') return bytes
  if (encoding !== 'gzip')
    throw new LogFault(`${url} has the encoding ${encoding.slice(0, 40)}, which was not requested`)
  return inflate(bytes, url, maxBytes)
}

/** In one step, which takes a third less than a stream: a data tile takes a millisecond, the largest body half a second. */
function inflate(bytes: Buffer, url: string, maxBytes: number): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes, chunkSize: 262_144 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(url, maxBytes)
    throw error
  }
}

function tooLarge(url: string, maxBytes: number): LogFault {
  return new LogFault(`${url} has more than ${maxBytes} bytes`)
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
