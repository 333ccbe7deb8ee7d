/**
 * Gzip on all cores: deflates blocks in parallel. Each block has the end of the previous one as its dictionary and ends
 * with a sync flush, so that all blocks form one gzip member (RFC 1951, RFC 1952).
 */

import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { crc32 } from 'node:zlib'
import { fixedSizeBlocks } from '../file-store/fixed-size-blocks.ts'
import { deflateBlock } from './deflate-block.ts'
import type { DeflatedBlock, DeflateTask } from './gzip-thread.ts'

/** Block size in bytes. */
const DEFAULT_BLOCK_BYTES = 2 ** 19
/** Maximum distance of a match in bytes. */
const DEFLATE_WINDOW_BYTES = 32_768
/** Blocks in progress per thread: one is deflated while another waits. */
const BLOCKS_PER_THREAD = 2

/** Deflate, no flags, no time and unknown system, so that the same content gives the same bytes. */
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff)
/** A last block without content. */
const EMPTY_LAST_BLOCK = Uint8Array.of(3, 0)

/** The maximum number of threads that `packingThreads` gives. Each uses about 20 MB. */
const MAX_PACKING_THREADS = 16

export type GzipOptions = {
  /** Compression level of zlib, from 1 (fastest) to 9 (smallest). */
  level: number
  threads: number
  /** Block size in bytes. Larger blocks need more memory and do not compress better. */
  block?: number
}

/** The number of threads with which this machine compresses. */
export function packingThreads(): number {
  return Math.min(MAX_PACKING_THREADS, availableParallelism())
}

/**
 * Yields the gzip member of the source in chunks, with about 4 blocks per thread in memory. A source of a single block
 * needs no thread. The threads end with the generator, also if the caller abandons it or the source throws.
 */
export async function* gzipParallel(
  source: AsyncIterable<Uint8Array>,
  { level, threads, block = DEFAULT_BLOCK_BYTES }: GzipOptions,
): AsyncGenerator<Uint8Array> {
  const pool = new GzipThreadPool(threads, level)
  const underWay: Promise<Uint8Array>[] = []
  let [sum, length] = [0, 0]
  let dictionary = new Uint8Array(0)
  try {
    yield GZIP_HEADER
    for await (const content of fixedSizeBlocks(source, block, (size) => pool.buffer(size))) {
      sum = crc32(content, sum)
      length += content.length
      const next = content.slice(-DEFLATE_WINDOW_BYTES)
      const isOnlyBlock = length < block
      if (isOnlyBlock) yield deflateBlock(content, dictionary, level)
      else underWay.push(pool.deflate(content, dictionary))
      dictionary = next
      if (underWay.length >= threads * BLOCKS_PER_THREAD) yield await underWay.shift()!
    }
    for (const each of underWay) yield await each
    yield gzipTrailer(sum, length)
  } finally {
    await pool.end()
  }
}

function gzipTrailer(sum: number, length: number): Uint8Array {
  const end = Buffer.alloc(8)
  end.writeUInt32LE(sum, 0)
  end.writeUInt32LE(length % 2 ** 32, 4)
  return Buffer.concat([EMPTY_LAST_BLOCK, end])
}

type PendingBlock = { resolve: (deflated: Uint8Array) => void; reject: (why: unknown) => void }

/** A pool of threads used in turn. Each starts with its first task, and answers in the order of its tasks. */
class GzipThreadPool {
  readonly #level: number
  readonly #maxThreads: number
  readonly #threads: Worker[] = []
  readonly #pending: PendingBlock[][] = []
  /** Buffers of finished blocks, for reuse. */
  readonly #buffers: ArrayBuffer[] = []
  #nextThread = 0
  #fault: Error | null = null

  constructor(maxThreads: number, level: number) {
    this.#maxThreads = maxThreads
    this.#level = level
  }

  buffer(size: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#buffers.pop() ?? new ArrayBuffer(size))
  }

  /** Transfers the content to a thread and deflates it there. */
  deflate(content: Uint8Array, dictionary: Uint8Array): Promise<Uint8Array> {
    const place = this.#nextThread++ % this.#maxThreads
    if (place === this.#threads.length) this.#startThread()
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
    promise.catch(() => {}) // the caller awaits it later
    if (this.#fault !== null) reject(this.#fault)
    this.#pending[place]!.push({ resolve, reject })
    const task: DeflateTask = { content, dictionary }
    this.#threads[place]!.postMessage(task, [content.buffer as ArrayBuffer])
    return promise
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.terminate()))
  }

  #startThread(): void {
    const waiting: PendingBlock[] = []
    const thread = new Worker(new URL('./gzip-thread.ts', import.meta.url), { workerData: this.#level })
    thread.on('message', ({ deflated, buffer }: DeflatedBlock) => {
      this.#buffers.push(buffer)
      waiting.shift()!.resolve(deflated)
    })
    thread.on('error', (error) => this.#fail(error))
    this.#threads.push(thread)
    this.#pending.push(waiting)
  }

  #fail(error: Error): void {
    this.#fault ??= error
    for (const { reject } of this.#pending.flat()) reject(error)
  }
}
