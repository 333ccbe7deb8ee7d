/** Writes the parts of a body to a connection: short texts as one text, and many parts in one system call. */

import type { ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'
import { yieldToEventLoop } from '../../store/shared/event-loop.ts'

/** A JSON text in parts. Encoded parts are UTF-8, so that a long text is not copied. An empty array means no body. */
export type ResponseBody = readonly (string | Uint8Array)[]

/** The maximum number of characters of a body whose parts are joined. */
const MAX_JOINED_CHARACTERS = 16_384

/** A body of texts as one text if it is short. Copying it then takes less time than a call for each part. */
export function joinIfShort(body: ResponseBody): ResponseBody {
  if (body.length < 2) return body
  let characters = 0
  for (const part of body) {
    if (typeof part !== 'string') return body
    characters += part.length
  }
  return characters > MAX_JOINED_CHARACTERS ? body : [body.join('')]
}

/** The bytes of a body. */
export function bodyLength(body: ResponseBody): number {
  let length = 0
  for (const part of body) length += Buffer.byteLength(part)
  return length
}

/** The text of a body. */
export function textOfBody(body: ResponseBody): string {
  return body.map((part) => (typeof part === 'string' ? part : Buffer.from(part).toString())).join('')
}

/** The length of a piece of a long text, and of a batch of parts. */
const CHUNK_CHARACTERS = 131_072
const BATCH_BYTES = 524_288

/** Writes a short body and ends the response. */
export function endWithParts(raw: ServerResponse, parts: ResponseBody): void {
  raw.cork()
  writeParts(raw, parts)
  raw.end()
}

/** Writes parts. `onWritten` is called when the last one is written. Texts in ASCII take one copy less as Latin-1. */
export function writeParts(to: Writable, parts: ResponseBody, onWritten?: (error?: Error | null) => void): void {
  const last = parts.length - 1
  for (const [index, part] of parts.entries()) {
    const callback = index === last ? onWritten : undefined
    if (typeof part !== 'string') to.write(part, callback)
    else to.write(part, Buffer.byteLength(part) === part.length ? 'latin1' : 'utf8', callback)
  }
}

/**
 * Writes a long body in batches, as fast as the client reads it. Between them, other requests run. A client that
 * disconnects is not an error.
 */
export async function sendInBatches(raw: ServerResponse, body: ResponseBody): Promise<void> {
  for (const batch of batchesOf(body)) {
    if (raw.destroyed) return
    raw.cork()
    writeParts(raw, batch)
    raw.uncork()
    if (raw.writableNeedDrain) await drained(raw)
    await yieldToEventLoop()
  }
  raw.end()
}

/** Resolves when more can be written, or when the client has disconnected. */
export function drained(raw: Writable): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      raw.off('drain', end).off('close', end)
      resolve()
    }
    raw.on('drain', end).on('close', end)
  })
}

function* batchesOf(body: ResponseBody): Generator<ResponseBody> {
  let batch: (string | Uint8Array)[] = []
  let length = 0
  for (const part of chunksOf(body)) {
    batch.push(part)
    length += part.length
    if (length < BATCH_BYTES) continue
    yield batch
    batch = []
    length = 0
  }
  yield batch
}

/** The parts of a body, long texts in pieces. No piece ends within a character. */
export function* chunksOf(body: ResponseBody): Generator<string | Uint8Array> {
  for (const part of body) {
    if (typeof part !== 'string') {
      yield part
      continue
    }
    for (let at = 0; at < part.length; ) {
      const last = part.charCodeAt(at + CHUNK_CHARACTERS - 1)
      const end = at + CHUNK_CHARACTERS - (last >= 0xd800 && last < 0xdc00 ? 1 : 0)
      yield part.slice(at, end)
      at = end
    }
  }
}
