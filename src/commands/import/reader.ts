/** The reading half of an import, a thread of its own: the bytes of a file become batches of observations. */

import { once } from 'node:events'
import { read as readCallback } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { InputFault } from '../../input/fault.ts'
import { inflate } from '../../input/inflate.ts'
import { type Line, lineCutter } from '../../input/lines.ts'
import { FORMATS } from '../../observe/formats/formats.ts'
import type { Batch, Order, Task } from './batch.ts'
import { type Collector, collect } from './collect.ts'
import { gather } from './gather.ts'

const CHUNK_BYTES = 262_144
/** What came is handed over after this long, though it is no full batch: a pipe may be slow. */
const PATIENCE_MILLISECONDS = 500

type Outlet = ReturnType<typeof outletOf>
type End = NonNullable<Batch['end']>

const readAt = promisify(readCallback)

if (parentPort) await readAll(parentPort, workerData as Task)

/** Reads to the end, one batch an order at most. What came whole before the file breaks off is handed over. */
async function readAll(port: MessagePort, task: Task): Promise<void> {
  const batch = task.format === null ? collect() : gather(FORMATS[task.format](task.observedAt))
  const outlet = outletOf(port, batch)
  try {
    const end = await readLines(task, batch, outlet)
    if (end !== 'refused') await handOver(batch, outlet)
    outlet.end(end)
  } catch (error) {
    if (!(error instanceof InputFault)) throw error
    outlet.end({ unusable: error.message })
  }
}

/** Why it ended. */
async function readLines({ fd, path, strict }: Task, batch: Collector, outlet: Outlet): Promise<End> {
  const cutter = lineCutter()
  let fault: End = 'done'
  try {
    for await (const chunk of inflate(chunksOf(fd, outlet.count), path)) {
      for (const line of cutter.take(chunk)) if (await isLast(line)) return 'refused'
    }
    const rest = cutter.rest()
    if (rest !== null && (await isLast(rest))) return 'refused'
  } catch (error) {
    if (error instanceof InputFault) throw error
    fault = { fault: (error as Error).message }
  }
  const { latest } = outlet.order() ?? (await outlet.nextOrder())
  return !batch.addLast(latest) && strict ? 'refused' : fault
  /** Takes a line; true where it is refused and that is the end. */
  async function isLast(line: Line): Promise<boolean> {
    const { latest } = outlet.order() ?? (await outlet.nextOrder())
    const isAccepted = batch.add(line, latest)
    if (strict && !isAccepted) batch.dropObservations()
    else if (batch.isFull()) outlet.send()
    return strict && !isAccepted
  }
}

/** Hands over what was kept for the end of the file, which comes after all of it was read. */
async function handOver(batch: Collector, outlet: Outlet): Promise<void> {
  for (const _ of batch.finish()) {
    if (outlet.order() === null) await outlet.nextOrder()
    if (batch.isFull()) outlet.send()
  }
}

/** Hands batches over, each against an order. */
function outletOf(port: MessagePort, batch: Collector) {
  let bytes = 0
  let order: Order | null = null
  const post = (end: Batch['end']): void => {
    order = null
    port.postMessage({ ...batch.empty(), bytes, end } satisfies Batch)
  }
  port.on('message', (given: Order) => {
    order = given
  })
  const patience = setInterval(() => {
    if (order !== null && !batch.isEmpty()) post(null)
  }, PATIENCE_MILLISECONDS)
  return {
    count(more: number): void {
      bytes += more
    },
    order: (): Order | null => order,
    nextOrder: async (): Promise<Order> => (await once(port, 'message'))[0] as Order,
    send: () => post(null),
    end(how: End): void {
      clearInterval(patience)
      post(how)
      port.close()
    },
  }
}

/** The bytes of an open file from where it stands, each piece good until the next; `count` is told of each. */
async function* chunksOf(fd: number, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  for (;;) {
    const bytesRead = await readSome(fd, buffer)
    if (bytesRead === 0) return
    count(bytesRead)
    yield buffer.subarray(0, bytesRead)
  }
}

/** Waits where standard input is a pipe that somebody has set not to wait. */
async function readSome(fd: number, buffer: Buffer): Promise<number> {
  for (;;) {
    try {
      return (await readAt(fd, buffer, 0, buffer.length, null)).bytesRead
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      await sleep(10)
    }
  }
}
