/** A thread that deflates blocks. */

import { parentPort, workerData } from 'node:worker_threads'
import { constants, deflateRawSync } from 'node:zlib'

export type DeflateTask = { content: Uint8Array; dictionary: Uint8Array }

/** What came of a task, and the buffer that its content lay in. */
export type DeflatedBlock = { deflated: Uint8Array; buffer: ArrayBuffer }

/** Bytes that zlib hands over at once: most blocks are done in one. */
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
