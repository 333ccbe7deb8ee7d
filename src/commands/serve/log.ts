/** The log: JSON lines on standard error, written beside the requests and never waited for. */

import { type Logger, pino } from 'pino'
import type { LogLevel } from '../../config.ts'

const STANDARD_ERROR = 2
/** Bytes of a write, at most: to a pipe, nothing of another process can fall between them (PIPE_BUF). */
const WRITE_BYTES = 4_096
/** Bytes that wait while whoever reads the log does not; what comes then is dropped. */
const WAITING_BYTES = 16 * 2 ** 20
/** Milliseconds that a line waits for more to be written with it, at most. */
const FLUSH = 250

export type Log = { log: Logger; flush: () => void }

/** `flush` writes at once what still waits: before the process ends. */
export function openLog(level: LogLevel): Log {
  const destination = pino.destination({
    dest: STANDARD_ERROR,
    sync: false,
    minLength: WRITE_BYTES / 2,
    maxWrite: WRITE_BYTES,
    maxLength: WAITING_BYTES,
    periodicFlush: FLUSH,
  })
  destination.on('error', () => {}) // nobody reads it any more: requests are answered all the same
  return { log: pino({ level, base: { pid: process.pid } }, destination), flush: () => flush(destination) }
}

function flush(destination: ReturnType<typeof pino.destination>): void {
  try {
    destination.flushSync()
  } catch {
    // the reader is gone, or does not read
  }
}
