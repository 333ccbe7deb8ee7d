/** A worker thread that deflates blocks. */

import { parentPort, workerData } from 'node:worker_threads'
import { deflateBlock } from './deflate-block.ts'

export type DeflateTask = { content: Uint8Array; dictionary: Uint8Array }

/** The result of a task, and the buffer of its content for reuse. */
export type DeflatedBlock = { deflated: Uint8Array; buffer: ArrayBuffer }

const threadPort = parentPort!
const compressionLevel = workerData as number

threadPort.on('message', ({ content, dictionary }: DeflateTask) => {
  const deflated = deflateBlock(content, dictionary, compressionLevel)
  const answer: DeflatedBlock = { deflated, buffer: content.buffer as ArrayBuffer }
  threadPort.postMessage(answer, [answer.buffer, deflated.buffer])
})
