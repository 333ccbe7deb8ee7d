/** Sends lines as they are made: a short answer as a whole, a long one as fast as the client reads it. */

import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { ApiContext } from '../context/context.ts'
import type { ApiReply, ApiRequest } from '../http/exchange.ts'
import { COMMON_HEADERS } from '../http/headers.ts'
import { acceptsGzip, NDJSON_TYPE } from '../http/request.ts'
import { type ApiResponse, crossOriginHeaders, isLastResponse, toApiError } from '../http/response.ts'
import { drained, writeParts } from '../http/write-parts.ts'
import { FAILED_LINE } from './saf.ts'

/** Characters that are written at once. An answer with fewer is sent as a whole. */
const CHUNK_CHARACTERS = 65_536

/**
 * Returns the response if it is short. Sends it and returns null if it is long. `charge` is called when the first lines
 * are known, and returns headers. A fault before it is thrown; a later one ends the lines with a failure.
 */
export async function sendLines(
  context: ApiContext,
  request: ApiRequest,
  reply: ApiReply,
  texts: AsyncGenerator<string>,
  charge: () => readonly string[],
): Promise<ApiResponse | null> {
  const chunks = inChunks(texts)
  const first = await chunks.next()
  if (first.done) return { status: 200, body: [first.value], headers: charge(), type: NDJSON_TYPE }
  await sendStream(context, request, reply, { first: first.value, chunks, headers: charge() })
  return null
}

/** Yields chunks of at least CHUNK_CHARACTERS, and returns the rest. */
async function* inChunks(texts: AsyncGenerator<string>): AsyncGenerator<string, string> {
  let chunk = ''
  for await (const text of texts) {
    chunk += text
    if (chunk.length < CHUNK_CHARACTERS) continue
    yield chunk
    chunk = ''
  }
  return chunk
}

type LongAnswer = { first: string; chunks: AsyncGenerator<string, string>; headers: readonly string[] }

async function sendStream(
  context: ApiContext,
  request: ApiRequest,
  { raw }: ApiReply,
  { first, chunks, headers }: LongAnswer,
): Promise<void> {
  const { responses } = context
  const head = ['Request-Id', request.id, ...COMMON_HEADERS, ...crossOriginHeaders(responses, request), ...headers]
  const isZipped = acceptsGzip(request.headers['accept-encoding'])
  if (isZipped) head.push('Content-Encoding', 'gzip')
  if (responses.isDraining && isLastResponse(request)) raw.shouldKeepAlive = false
  raw.writeHead(200, [...head, 'Content-Type', NDJSON_TYPE])
  if (request.method === 'HEAD') {
    raw.end()
    return void (await chunks.return(''))
  }
  const gzip = isZipped ? createGzip({ level: 1 }) : null
  if (gzip !== null) void pipeline(gzip, raw).catch(() => raw.destroy())
  const sink: Writable = gzip ?? raw
  const write = async (text: string): Promise<void> => {
    const bytes = Buffer.byteLength(text)
    responses.unsentBytes += bytes
    writeParts(sink, [text], () => {
      responses.unsentBytes -= bytes
    })
    if (sink.writableNeedDrain) await drained(sink)
  }
  try {
    await write(first)
    for (;;) {
      const { done, value } = await chunks.next()
      if (raw.destroyed) return void (await chunks.return(''))
      await write(value)
      if (done) break
    }
  } catch (thrown) {
    toApiError(context, request.id, thrown)
    if (!raw.destroyed) await write(FAILED_LINE)
  }
  sink.end()
}
