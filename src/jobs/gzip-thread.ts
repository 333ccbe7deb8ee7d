/** A worker thread that deflates blocks. */

import { parentPort, workerData } from 'node:worker_threads'
import { constants, deflateRawSync } from 'node:zlib'

export type DeflateTask = { content: Uint8Array; dictionary: Uint8Array }

/** The result of a task, and the buffer of its content for reuse. */
export type DeflatedBlock = { deflated: Uint8Array; buffer: ArrayBuffer }

/** Bytes per output chunk of zlib. Most blocks fit in one. */
const DEFLATE_CHUNK_BYTES = 2 ** 18

const threadPort = parentPort!
const compressionLevel = workerData as number

threadPort.on('message', ({ content, dictionary }: DeflateTask) => {
  const deflated = deflateRawSync(content, {
    level: compressionLevel,
    chunkSize: DEFLATE_CHUNK_BYTES,
    finishFlush: constants.Z_SYNC_FLUSH,
    ...(dictionary.length > 0 && { dictionary }),
  })
  const answer: DeflatedBlock = { deflated, buffer: content.buffer as ArrayBuffer }
  threadPort.postMessage(answer, [answer.buffer, deflated.buffer as ArrayBuffer])
})
