/** A thread that deflates blocks. */

import { parentPort, workerData } from 'node:worker_threads'
import { constants, deflateRawSync } from 'node:zlib'

export type Task = { content: Uint8Array; dictionary: Uint8Array }

/** What came of a task, and the buffer that its content lay in. */
export type Deflated = { deflated: Uint8Array; buffer: ArrayBuffer }

/** Bytes that zlib hands over at once: most blocks are done in one. */
const CHUNK = 2 ** 18

const port = parentPort!
const level = workerData as number

port.on('message', ({ content, dictionary }: Task) => {
  const deflated = deflateRawSync(content, {
    level,
    chunkSize: CHUNK,
    finishFlush: constants.Z_SYNC_FLUSH,
    ...(dictionary.length > 0 && { dictionary }),
  })
  const answer: Deflated = { deflated, buffer: content.buffer as ArrayBuffer }
  port.postMessage(answer, [answer.buffer, deflated.buffer as ArrayBuffer])
})
