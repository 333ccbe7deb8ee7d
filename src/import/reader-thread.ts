/** The reading half of an import, a thread of its own: the bytes of a file become batches of observations. */

import { once } from 'node:events'
import { read as readCallback } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { BatchRequest, ImportBatch, ReaderTask } from './batch.ts'
import { type BatchCollector, collectObservations } from './collect-observations.ts'
import { collectSightings } from './collect-sightings.ts'
import { IMPORT_FORMATS } from './formats/import-formats.ts'
import { decompress } from './stream/decompress.ts'
import { InputError } from './stream/input-error.ts'
import { createLineSplitter, type InputLine } from './stream/line-splitter.ts'

const READ_CHUNK_BYTES = 262_144
/** What came is handed over after this long, though it is no full batch: a pipe may be slow. */
const MAX_BATCH_DELAY_MS = 500

type BatchSender = ReturnType<typeof createBatchSender>
type BatchEnd = NonNullable<ImportBatch['end']>

const readAt = promisify(readCallback)

if (parentPort) await readFileInBatches(parentPort, workerData as ReaderTask)

/** Reads to the end, one batch an order at most. What came whole before the file breaks off is handed over. */
async function readFileInBatches(port: MessagePort, task: ReaderTask): Promise<void> {
  const batch =
    task.format === null ? collectObservations() : collectSightings(IMPORT_FORMATS[task.format](task.observedAt))
  const sender = createBatchSender(port, batch)
  try {
    const end = await collectLines(task, batch, sender)
    if (end !== 'refused') await sendRest(batch, sender)
    sender.end(end)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    sender.end({ unusable: error.message })
  }
}

/** Why it ended. */
async function collectLines(
  { fd, path, strict }: ReaderTask,
  batch: BatchCollector,
  sender: BatchSender,
): Promise<BatchEnd> {
  const cutter = createLineSplitter()
  let ending: BatchEnd = 'done'
  try {
    for await (const chunk of decompress(fileChunks(fd, sender.count), path)) {
      for (const line of cutter.split(chunk)) if (await isLast(line)) return 'refused'
    }
    const rest = cutter.rest()
    if (rest !== null && (await isLast(rest))) return 'refused'
  } catch (error) {
    if (error instanceof InputError) throw error
    ending = { problem: (error as Error).message }
  }
  const { latest } = sender.order() ?? (await sender.nextRequest())
  return !batch.addLast(latest) && strict ? 'refused' : ending
  /** Takes a line; true where it is refused and that is the end. */
  async function isLast(line: InputLine): Promise<boolean> {
    const { latest } = sender.order() ?? (await sender.nextRequest())
    const isAccepted = batch.add(line, latest)
    if (strict && !isAccepted) batch.dropObservations()
    else if (batch.isFull()) sender.send()
    return strict && !isAccepted
  }
}

/** Hands over what was kept for the end of the file, which comes after all of it was read. */
async function sendRest(batch: BatchCollector, sender: BatchSender): Promise<void> {
  for (const _ of batch.finish()) {
    if (sender.order() === null) await sender.nextRequest()
    if (batch.isFull()) sender.send()
  }
}

/** Hands batches over, each against an order. */
function createBatchSender(port: MessagePort, batch: BatchCollector) {
  let bytes = 0
  let request: BatchRequest | null = null
  const post = (end: ImportBatch['end']): void => {
    request = null
    port.postMessage({ ...batch.takeBatch(), bytes, end } satisfies ImportBatch)
  }
  port.on('message', (given: BatchRequest) => {
    request = given
  })
  const delayTimer = setInterval(() => {
    if (request !== null && !batch.isEmpty()) post(null)
  }, MAX_BATCH_DELAY_MS)
  return {
    count(more: number): void {
      bytes += more
    },
    order: (): BatchRequest | null => request,
    nextRequest: async (): Promise<BatchRequest> => (await once(port, 'message'))[0] as BatchRequest,
    send: () => post(null),
    end(ending: BatchEnd): void {
      clearInterval(delayTimer)
      post(ending)
      port.close()
    },
  }
}

/** The bytes of an open file from where it stands, each piece good until the next; `count` is told of each. */
async function* fileChunks(fd: number, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(READ_CHUNK_BYTES)
  for (;;) {
    const bytesRead = await readChunk(fd, buffer)
    if (bytesRead === 0) return
    count(bytesRead)
    yield buffer.subarray(0, bytesRead)
  }
}

/** Waits where standard input is a pipe that somebody has set not to wait. */
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
