/** Uploads a file to S3, in parts if it is large. The object appears only when all of it has arrived. */

import { createHash } from 'node:crypto'
import type { WrittenFile } from '../durable.ts'
import { fixedSizeBlocks } from '../fixed-size-blocks.ts'
import type { S3Objects, UploadedPart } from './objects.ts'

/** Bytes per part. S3 takes 10,000 parts, and at least 5 MiB in each but the last. An upload holds three parts. */
export const PART_BYTES = 2 ** 23

/** Uploads the content. If the content or S3 fails, it aborts the upload, so that S3 keeps no part, and throws. */
export async function uploadObject(
  objects: S3Objects,
  key: string,
  content: AsyncIterable<Uint8Array>,
): Promise<WrittenFile> {
  const digest = createHash('sha256')
  let bytes = 0
  const parts = fixedSizeBlocks(
    content,
    PART_BYTES,
    (size) => Buffer.allocUnsafeSlow(size),
    (piece) => {
      digest.update(piece)
      bytes += piece.length
    },
  )
  const first = (await parts.next()).value ?? Buffer.alloc(0)
  const second = await parts.next()
  if (second.done) await objects.put(key, first, 'application/gzip')
  else await uploadParts(objects, key, [first, second.value], parts)
  return { bytes, sha256: digest.digest('hex') }
}

/** Sends each part while the next one is produced. */
async function uploadParts(
  objects: S3Objects,
  key: string,
  start: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): Promise<void> {
  const uploadId = await objects.startUpload(key)
  const done: UploadedPart[] = []
  let sending: Promise<unknown> = Promise.resolve()
  try {
    for await (const part of chain(start, rest)) {
      await sending
      const number = done.length + 1
      sending = objects.uploadPart(key, uploadId, number, part).then((uploaded) => void done.push(uploaded))
      sending.catch(() => {}) // awaited below, or before the next part
    }
    await sending
    await objects.completeUpload(key, uploadId, done)
  } catch (error) {
    await sending.catch(() => {}) // S3 may keep a part that arrives after the abort
    await objects.abortUpload(key, uploadId).catch(() => {}) // a later build aborts it
    throw error
  }
}

async function* chain(start: readonly Uint8Array[], rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* start
  yield* rest
}
