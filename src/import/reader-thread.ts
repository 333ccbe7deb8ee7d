/** The reader thread of an import: turns the bytes of a file into batches of observations. */

import { once } from 'node:events'
import { read as readCallback } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { BatchRequest, ImportBatch, ReaderTask } from './batch.ts'
import { type BatchCollector, collectObservations } from './collect-observations.ts'
import { collectSightings } from './collect-sightings.ts'
import { IMPORT_FORMATS } from './formats/import-formats.ts'
import { buffersOfColumns } from './observation-columns.ts'
import { decompress } from './stream/decompress.ts'
import { InputError } from './stream/input-error.ts'
import { createLineSplitter, type InputLine } from './stream/line-splitter.ts'

const READ_CHUNK_BYTES = 262_144
/** An incomplete batch is sent after this time, because a pipe may be slow. A file fills its batches in less. */
const MAX_BATCH_DELAY_MS = 2_000

type BatchSender = ReturnType<typeof createBatchSender>
type BatchEnd = NonNullable<ImportBatch['end']>

const readAt = promisify(readCallback)

if (parentPort) await readFileInBatches(parentPort, workerData as ReaderTask)

/** Reads to the end and sends at most one batch per request. Sends everything complete before the file breaks off. */
async function readFileInBatches(port: MessagePort, task: ReaderTask): Promise<void> {
  const batch =
    task.format === null ? collectObservations() : collectSightings(IMPORT_FORMATS[task.format](task.observedAt))
  const sender = createBatchSender(port, batch)
  try {
    const end = await collectLines(task, batch, sender)
    if (end !== 'refused') await sendRemaining(batch, sender)
    sender.end(end)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    sender.end({ unusable: error.message })
  }
}

/** Returns why it ended. */
async function collectLines(
  { fd, path, strict }: ReaderTask,
  batch: BatchCollector,
  sender: BatchSender,
): Promise<BatchEnd> {
  const splitter = createLineSplitter()
  /** Adds a line. Returns true if it is rejected and the import is strict. */
  const isLast = (line: InputLine, { latest }: BatchRequest): boolean => {
    const isAccepted = batch.add(line, latest)
    if (strict && !isAccepted) batch.dropObservations()
    else if (batch.isFull()) sender.send()
    return strict && !isAccepted
  }
  let ending: BatchEnd = 'done'
  try {
    for await (const chunk of decompress(fileChunks(fd, sender.count), path)) {
      // Most lines need no wait, and a wait costs as much as the line.
      for (const line of splitter.split(chunk))
        if (isLast(line, sender.currentRequest() ?? (await sender.nextRequest()))) return 'refused'
    }
    const rest = splitter.rest()
    if (rest !== null && isLast(rest, sender.currentRequest() ?? (await sender.nextRequest()))) return 'refused'
  } catch (error) {
    if (error instanceof InputError) throw error
    ending = { problem: (error as Error).message }
  }
  const { latest } = sender.currentRequest() ?? (await sender.nextRequest())
  return !batch.addLast(latest) && strict ? 'refused' : ending
}

/** Sends what was held back for the end of the file, after all of it was read. */
async function sendRemaining(batch: BatchCollector, sender: BatchSender): Promise<void> {
  for (const _ of batch.finish()) {
    if (sender.currentRequest() === null) await sender.nextRequest()
    if (batch.isFull()) sender.send()
  }
}

/** Sends batches, each in response to a request. */
function createBatchSender(port: MessagePort, batch: BatchCollector) {
  let bytes = 0
  let request: BatchRequest | null = null
  const post = (end: ImportBatch['end']): void => {
    request = null
    const full: ImportBatch = { ...batch.takeBatch(), bytes, end }
    port.postMessage(full, buffersOfColumns(full.observations))
  }
  port.on('message', (next: BatchRequest) => {
    request = next
  })
  const delayTimer = setInterval(() => {
    if (request !== null && !batch.isEmpty()) post(null)
  }, MAX_BATCH_DELAY_MS)
  return {
    count(more: number): void {
      bytes += more
    },
    currentRequest: (): BatchRequest | null => request,
    nextRequest: async (): Promise<BatchRequest> => (await once(port, 'message'))[0] as BatchRequest,
    send: () => post(null),
    end(ending: BatchEnd): void {
      clearInterval(delayTimer)
      post(ending)
      port.close()
    },
  }
}

/** Yields the bytes of an open file from its position. Each chunk is valid until the next. Calls `count` for each. */
async function* fileChunks(fd: number, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(READ_CHUNK_BYTES)
  for (;;) {
    const bytesRead = await readChunk(fd, buffer)
    if (bytesRead === 0) return
    count(bytesRead)
    yield buffer.subarray(0, bytesRead)
  }
}

/** Waits if standard input is a non-blocking pipe without data. */
async function readChunk(fd: number, buffer: Buffer): Promise<number> {
  for (;;) {
    try {
      return (await readAt(fd, buffer, 0, buffer.length, null)).bytesRead
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      await sleep(10)
    }
  }
}
