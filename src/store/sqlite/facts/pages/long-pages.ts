/** The rest of long pages is read in a thread, so that this thread can answer other requests meanwhile. */

import { Worker } from 'node:worker_threads'
import type { PageReply, PageRequest, PageRest, PageThreadMessage } from './page-thread.ts'

/** `rows`: bytes of JSON in memory that the thread uses again after `release`. */
export type LongPageRest = Pick<PageRest, 'count' | 'last'> & { rows: Uint8Array[]; release: () => void }

export type LongPages = {
  read(request: PageRequest): Promise<LongPageRest>
  /** Ends the thread when it has read the requested pages. */
  close(): Promise<void>
}

type PageThread = { worker: Worker; pending: PromiseWithResolvers<LongPageRest>[] }

/** The thread starts with the first long page. If it fails, the next long page starts another one. */
export function openLongPages(path: string): LongPages {
  let thread: PageThread | null = null
  return {
    read(request) {
      thread ??= startPageThread(path, () => {
        thread = null
      })
      const { worker, pending } = thread
      const page = Promise.withResolvers<LongPageRest>()
      if (pending.push(page) === 1) worker.ref()
      send(worker, { request })
      return page.promise
    },
    async close() {
      if (thread === null) return
      const { worker } = thread
      const exited = new Promise((resolve) => worker.once('exit', resolve))
      worker.ref()
      send(worker, null)
      await exited
    },
  }
}

function startPageThread(path: string, onEnd: () => void): PageThread {
  const worker = new Worker(new URL('./page-thread.ts', import.meta.url), { workerData: path })
  const pending: PageThread['pending'] = []
  const end = (reason: Error): void => {
    onEnd()
    for (const { reject } of pending.splice(0)) reject(reason)
  }
  worker.on('message', (reply: PageReply) => {
    const page = pending.shift()!
    if (pending.length === 0) worker.unref() // the process may end
    if ('error' in reply) page.reject(reply.error)
    else page.resolve(restOf(worker, reply))
  })
  worker.on('error', (error) => end(error as Error))
  worker.on('exit', () => end(new Error(`the thread that reads ${path} has ended`)))
  return { worker, pending }
}

function restOf(worker: Worker, { blocks, count, last }: PageRest): LongPageRest {
  return {
    rows: blocks.map(({ memory, length }) => Buffer.from(memory, 0, length)),
    count,
    last,
    release: () => send(worker, { free: blocks.map(({ memory }) => memory) }),
  }
}

function send(worker: Worker, message: PageThreadMessage): void {
  worker.postMessage(message)
}
