/** The thread that reads the rest of long pages, one page at a time, each from one snapshot. */

import { parentPort, workerData } from 'node:worker_threads'
import { connectSqlite, readTransaction } from '../../database/connection.ts'
import { type RowPosition, type RowSelection, type RowSlice, rowReaders } from './row-reader.ts'

/** The first `limit` rows of a selection. */
export type PageRequest = { selection: RowSelection; limit: number }
/** `last`: the position of the last row if more rows follow; null at the end. */
export type PageRest = { slices: Uint8Array[]; count: number; last: RowPosition | null }
export type PageReply = PageRest | { error: Error }

/** Rows per slice: it stays in the cache of the processor. */
export const ROWS_PER_SLICE = 1_000

const pageThreadPort = parentPort!
const pageDatabase = connectSqlite(workerData as string, { readOnly: true })
const readerOf = rowReaders(pageDatabase)

/** `null` asks the thread to end. */
pageThreadPort.on('message', (request: PageRequest | null) => {
  if (request === null) return closeThread()
  const reply = tryReadRest(request)
  const buffers = 'slices' in reply ? reply.slices.map(({ buffer }) => buffer as ArrayBuffer) : []
  pageThreadPort.postMessage(reply satisfies PageReply, buffers)
})

function tryReadRest({ selection, limit }: PageRequest): PageReply {
  try {
    return readTransaction(pageDatabase, () => {
      const reader = readerOf(selection)
      const slices: Uint8Array[] = []
      let left = limit
      while (left > 0 && !reader.isAtEnd) {
        const { count, json }: RowSlice = reader.next(Math.min(left, ROWS_PER_SLICE))
        if (json !== null) slices.push(json)
        left -= count
      }
      return { slices, count: limit - left, last: left === 0 && reader.hasMore() ? reader.last : null }
    })
  } catch (error) {
    return { error: error as Error }
  }
}

function closeThread(): void {
  pageDatabase.close()
  pageThreadPort.close()
}
