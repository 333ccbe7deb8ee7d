/** The thread that reads the rest of long pages, one page at a time, each from one snapshot, into shared memory. */

import { existsSync, readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { JSON_ROW_SEPARATOR } from '../../../shared/json-page.ts'
import { connectSqlite, readTransaction } from '../../database/connection.ts'
import { type RowPosition, type RowSelection, rowReaders } from './row-reader.ts'

/** The first `limit` rows of a selection. */
export type PageRequest = { selection: RowSelection; limit: number }
/** To this thread: a request, blocks that are free again, or the order to end. */
export type PageThreadMessage = { request: PageRequest } | { free: readonly SharedArrayBuffer[] } | null
/** The JSON of the rows in blocks. `last`: the position of the last row if more rows follow; null at the end. */
export type PageRest = { blocks: JsonBlock[]; count: number; last: RowPosition | null }
export type JsonBlock = { memory: SharedArrayBuffer; length: number }
export type PageReply = PageRest | { error: Error }

/** Rows per slice: its pages and its JSON stay in the cache of the processor. */
const ROWS_PER_SLICE = 1_000
const BLOCK_BYTES = 131_072
/** Free blocks that are kept for further pages. */
const MAX_FREE_BLOCKS = 128
/** Short requests of the event loop come first if both want the same core. */
const PAGE_NICENESS = 10
/** A link to the running thread, such as `1234/task/1240`. Other systems give threads no priority of their own. */
const LINUX_THREAD = '/proc/thread-self'

if (existsSync(LINUX_THREAD)) lowerPriority(threadNumber())
const pageThreadPort = parentPort!
const pageDatabase = connectSqlite(workerData as string, { readOnly: true })
const readerOf = rowReaders(pageDatabase)
const freeBlocks: SharedArrayBuffer[] = []

pageThreadPort.on('message', (message: PageThreadMessage) => {
  if (message === null) closeThread()
  else if ('free' in message) freeBlocks.push(...message.free.slice(0, MAX_FREE_BLOCKS - freeBlocks.length))
  else pageThreadPort.postMessage(tryReadRest(message.request))
})

function tryReadRest({ selection, limit }: PageRequest): PageReply {
  try {
    return readTransaction(pageDatabase, () => {
      const reader = readerOf(selection)
      const blocks: JsonBlock[] = []
      let left = limit
      while (left > 0 && !reader.isAtEnd) {
        const { count, json } = reader.next(Math.min(left, ROWS_PER_SLICE))
        if (json !== null && blocks.length > 0) append(blocks, JSON_ROW_SEPARATOR)
        if (json !== null) append(blocks, json)
        left -= count
      }
      return { blocks, count: limit - left, last: left === 0 && reader.hasMore() ? reader.last : null }
    })
  } catch (error) {
    return { error: error as Error }
  }
}

/** Appends a text in ASCII. */
function append(blocks: JsonBlock[], text: string): void {
  let block = blocks.at(-1)
  for (let written = 0; written < text.length; ) {
    if (block === undefined || block.length === BLOCK_BYTES) {
      block = { memory: freeBlocks.pop() ?? new SharedArrayBuffer(BLOCK_BYTES), length: 0 }
      blocks.push(block)
    }
    const bytes = Buffer.from(block.memory, block.length).write(text.slice(written), 'latin1')
    written += bytes
    block.length += bytes
  }
}

function closeThread(): void {
  pageDatabase.close()
  pageThreadPort.close()
}

/** The number of this thread for the kernel. */
function threadNumber(): number {
  return Number(readlinkSync(LINUX_THREAD).split('/').at(-1))
}

/** A process that has less priority already keeps it: only root may give it more. */
function lowerPriority(thread: number): void {
  setPriority(thread, Math.max(getPriority(thread), PAGE_NICENESS))
}
