/** Appends observations to a file, one per line. First repairs a partial line that a crash left. */

import { closeSync, fstatSync, ftruncateSync, openSync, readSync, type Stats, write, writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { CommandFault } from '../../config/command-fault.ts'
import { errorCause } from '../../import/stream/input-error.ts'
import { MAX_LINE_BYTES } from '../../import/stream/line-splitter.ts'
import { parseObservation } from '../../observe/observation-parser.ts'
import { writeObservation } from '../../observe/observation-writer.ts'
import { type Destination, UNKNOWN_NAME } from './destination.ts'

const STANDARD_OUTPUT = 1
const NEWLINE_BYTE = 10
/** Milliseconds until a full pipe is tried again. */
const PIPE_RETRY_MS = 10
/** The start of every line that writeObservation writes. */
const OBSERVATION_LINE_PREFIX = '{"domain":"'

/**
 * `-` is standard output. Throws CommandFault if the file cannot be written, is the list itself, or has other content.
 */
export function openObservationFile(path: string, list: Stats | null): Destination {
  const fd = path === '-' ? STANDARD_OUTPUT : openForAppend(path)
  const stats = fstatSync(fd)
  if (list !== null && stats.isFile() && stats.ino === list.ino && stats.dev === list.dev) {
    throw new CommandFault(`${path} is the list itself: choose another file for --out`)
  }
  if (stats.isFile() && path !== '-') repairLastLine(fd, stats.size, path)
  return {
    isFile: true,
    label: resolve(path),
    targetsOf: async () => UNKNOWN_NAME,
    history: { outcomeHistory: async () => [], now: async () => Math.floor(Date.now() / 1000), add: async () => {} },
    async write(batch) {
      await writeFully(fd, Buffer.from(batch.map((observation) => `${writeObservation(observation)}\n`).join('')))
      return batch.map(() => 'written' as const)
    },
    async close() {
      if (fd !== STANDARD_OUTPUT) closeSync(fd)
    },
  }
}

function openForAppend(path: string): number {
  try {
    return openSync(path, 'a+')
  } catch (error) {
    throw new CommandFault(`${path} cannot be written for --out: ${errorCause(error)}`)
  }
}

/**
 * Removes a partial observation at the end, or terminates a complete last line. Throws CommandFault if the last line is
 * not an observation.
 */
function repairLastLine(fd: number, size: number, path: string): void {
  const tail = Buffer.alloc(Math.min(size, MAX_LINE_BYTES))
  readSync(fd, tail, 0, tail.length, size - tail.length)
  if (tail.length === 0) return
  const isEnded = tail.at(-1) === NEWLINE_BYTE
  const from = tail.lastIndexOf(NEWLINE_BYTE, isEnded ? -2 : -1) + 1
  const last = tail.toString('utf8', from)
  const isComplete = typeof parseObservation(last) !== 'string'
  if (isComplete && !isEnded) writeSync(fd, '\n')
  else if (!isComplete && !isEnded && last.startsWith(OBSERVATION_LINE_PREFIX.slice(0, last.length)))
    ftruncateSync(fd, size - (tail.length - from))
  else if (!isComplete)
    throw new CommandFault(`the last line of ${path} is not an observation: choose another file for --out`)
}

const writeToFile = promisify(write)

/** Waits while a pipe is full, because Node makes standard output nonblocking. */
async function writeFully(fd: number, bytes: Buffer): Promise<void> {
  for (let from = 0; from < bytes.length; ) {
    try {
      from += (await writeToFile(fd, bytes, from)).bytesWritten
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EPIPE') throw new CommandFault('standard output was closed; unfinished results are not written')
      if (code !== 'EAGAIN') throw error
      await setTimeout(PIPE_RETRY_MS)
    }
  }
}
