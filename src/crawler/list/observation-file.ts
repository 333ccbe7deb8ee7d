/** A file that observations are appended to, each as a line; a line that a crash left by half is repaired first. */

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
/** Milliseconds until a pipe that is full is tried again. */
const PIPE_RETRY_MS = 10
/** How every line begins that writeObservation writes. */
const OBSERVATION_LINE_PREFIX = '{"domain":"'

/** `-` is standard output. Throws CommandFault for a file that cannot be written, or is the list, or holds something else. */
export function openObservationFile(path: string, list: Stats | null): Destination {
  const fd = path === '-' ? STANDARD_OUTPUT : openForAppend(path)
  const stats = fstatSync(fd)
  if (list !== null && stats.isFile() && stats.ino === list.ino && stats.dev === list.dev) {
    throw new CommandFault(`${path} is the list that is crawled; name another file for --out`)
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

/** Cuts off the half of an observation at the end, or ends the line of a whole one. Throws CommandFault where the last line is none. */
function repairLastLine(fd: number, size: number, path: string): void {
  const tail = Buffer.alloc(Math.min(size, MAX_LINE_BYTES))
  readSync(fd, tail, 0, tail.length, size - tail.length)
  if (tail.length === 0) return
  const isEnded = tail.at(-1) === NEWLINE_BYTE
  const from = tail.lastIndexOf(NEWLINE_BYTE, isEnded ? -2 : -1) + 1
  const last = tail.toString('utf8', from)
  const isWhole = typeof parseObservation(last) !== 'string'
  if (isWhole && !isEnded) writeSync(fd, '\n')
  else if (!isWhole && !isEnded && last.startsWith(OBSERVATION_LINE_PREFIX.slice(0, last.length)))
    ftruncateSync(fd, size - (tail.length - from))
  else if (!isWhole)
    throw new CommandFault(`${path} does not end with a line of observations; name another file for --out`)
}

const writeToFile = promisify(write)

/** Waits while a pipe is full: Node sets the one of standard output so that it refuses then. */
async function writeFully(fd: number, bytes: Buffer): Promise<void> {
  for (let from = 0; from < bytes.length; ) {
    try {
      from += (await writeToFile(fd, bytes, from)).bytesWritten
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EPIPE') throw new CommandFault('standard output was closed; what was not finished was not written')
      if (code !== 'EAGAIN') throw error
      await setTimeout(PIPE_RETRY_MS)
    }
  }
}
