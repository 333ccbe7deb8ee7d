/** Where the rows of a listing come from: a small store has one part, in this thread, and a large one has two threads. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { ListingPage } from '../../port/listing.ts'
import { faultOf } from '../database/errors.ts'
import { RowPart, type RowPartOptions } from './row-part.ts'
import type { RowReply, RowRequest } from './row-thread.ts'

/** A thread makes few objects: the texts of pages are not in the heap. */
const YOUNG_GENERATION_MB = 4

/** Some pages of a range. `more`: it has further ones. */
export type RowPages = { pages: ListingPage[]; more: boolean }

/** One part of the rows. Its calls follow one another. While they wait, they reject if the signal aborts. */
export interface RowSource {
  /** Collects the facts with numbers above `from`, up to `to`. `onReached` gets the number that it has reached. */
  collect(from: number, to: number, onReached: (id: number) => void): Promise<void>
  /** Opens the files of all parts. */
  open(files: readonly string[]): Promise<void>
  /** The first pages of a range, or the next ones of the same (null). */
  pages(range: number | null): Promise<RowPages>
  /** Ends also what it still does. */
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
    },
    open: async (files) => part.open(files),
    async pages(range) {
      await yieldToEventLoop()
      signal.throwIfAborted()
      const page = part.next(range)
      return { pages: page === undefined ? [] : [page], more: page !== undefined }
    },
    close: async () => part.close(),
  }
}

/** The thread opens the store at the first call. */
export function openRowThread(options: RowPartOptions, signal: AbortSignal): RowSource {
  const worker = new Worker(new URL('./row-thread.ts', import.meta.url), {
    workerData: options,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  const exited = new Promise((resolve) => worker.once('exit', resolve))
  const pending: PromiseWithResolvers<RowPages>[] = []
  let onReached = (_id: number): void => {}
  let ended: unknown = null
  const end = (reason: unknown): void => {
    ended ??= reason
    for (const { reject } of pending.splice(0)) reject(ended)
  }
  const stop = (reason: unknown): void => {
    end(reason)
    void worker.terminate()
  }
  const abort = (): void => stop(signal.reason)
  worker.on('message', (reply: RowReply) => {
    if ('reached' in reply) {
      try {
        return onReached(reply.reached)
      } catch (error) {
        return stop(error)
      }
    }
    const request = pending.shift()
    if ('fault' in reply) request?.reject(faultOf(reply.fault))
    else request?.resolve(reply)
  })
  worker.on('error', end)
  worker.on('exit', () => end(new Error(`the thread that lists ${options.store} has ended`)))
  signal.addEventListener('abort', abort, { once: true })
  const send = (request: RowRequest): Promise<RowPages> => {
    if (ended !== null) return Promise.reject(ended)
    const reply = Promise.withResolvers<RowPages>()
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
      if (pending.length > 0) stop(new Error(`the listing of ${options.store} is closed`))
      else if (ended === null) await send({ close: true }).catch(() => worker.terminate())
      await exited
    },
  }
}
