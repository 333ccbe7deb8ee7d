/** Where the rows of a listing come from: one part of a small store in this thread, or a part of a large one in each of two threads. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { ListingPage } from '../../port/listing.ts'
import { faultOf } from '../ledger/writing/calls.ts'
import { RowPart, type RowPartOptions } from './row-part.ts'
import type { RowReply, RowRequest } from './row-thread.ts'

/** A thread makes few objects: the texts of pages are not in the heap. */
const YOUNG_GENERATION_MB = 4

/** One part of the rows. Its calls follow one another. All reject with the reason of the signal once it aborts. */
export interface RowSource {
  /** Collects the facts with numbers above `from`, up to `to`. `onReached` gets the number that it has reached. */
  collect(from: number, to: number, onReached: (id: number) => void): Promise<void>
  /** Opens the files of all parts. */
  open(files: readonly string[]): Promise<void>
  /** The pages of a range. */
  pages(range: number): Promise<ListingPage[]>
  close(): Promise<void>
}

export function openLocalRows(options: RowPartOptions, signal: AbortSignal): RowSource {
  const part = new RowPart(options)
  return {
    async collect(from, to, onReached) {
      for (const reached of part.collect(from, to)) {
        onReached(reached)
        await yieldToEventLoop()
        signal.throwIfAborted()
      }
      part.detach()
    },
    open: async (files) => part.open(files),
    async pages(range) {
      const pages: ListingPage[] = []
      for (const page of part.pages(range)) {
        pages.push(page)
        await yieldToEventLoop()
        signal.throwIfAborted()
      }
      return pages
    },
    close: async () => part.close(),
  }
}

/** The thread starts with the first call. */
export function openRowThread(options: RowPartOptions, signal: AbortSignal): RowSource {
  const worker = new Worker(new URL('./row-thread.ts', import.meta.url), {
    workerData: options,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  const exited = new Promise((resolve) => worker.once('exit', resolve))
  const pending: PromiseWithResolvers<ListingPage[]>[] = []
  let onReached = (_id: number): void => {}
  let ended: unknown = null
  const end = (reason: unknown): void => {
    ended ??= reason
    for (const { reject } of pending.splice(0)) reject(ended)
  }
  const abort = (): void => {
    end(signal.reason)
    void worker.terminate()
  }
  worker.on('message', (reply: RowReply) => {
    if ('reached' in reply) return onReached(reply.reached)
    const request = pending.shift()
    if ('fault' in reply) request?.reject(faultOf(reply.fault))
    else request?.resolve(reply.pages)
  })
  worker.on('error', end)
  worker.on('exit', () => end(new Error(`the thread that lists ${options.store} has ended`)))
  signal.addEventListener('abort', abort, { once: true })
  const send = (request: RowRequest): Promise<ListingPage[]> => {
    if (ended !== null) return Promise.reject(ended)
    const reply = Promise.withResolvers<ListingPage[]>()
    pending.push(reply)
    worker.postMessage(request)
    return reply.promise
  }
  return {
    async collect(from, to, report) {
      onReached = report
      await send({ collect: { from, to } })
    },
    open: async (files) => void (await send({ open: files })),
    pages: (range) => send({ pages: range }),
    async close() {
      signal.removeEventListener('abort', abort)
      if (ended === null) await send({ close: true }).catch(() => worker.terminate())
      await exited
    },
  }
}
