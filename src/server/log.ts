/** The log: JSON lines on standard error, written beside the requests and never waited for. */

import { type Logger, pino } from 'pino'
import type { LogLevel } from '../config/settings.ts'

const STDERR_FD = 2
/** Bytes of a write, at most: to a pipe, nothing of another process can fall between them (PIPE_BUF). */
const LOG_WRITE_BYTES = 4_096
/** Bytes that wait while whoever reads the log does not; what comes then is dropped. */
const MAX_BUFFERED_LOG_BYTES = 16 * 2 ** 20
/** Milliseconds that a line waits for more to be written with it, at most. */
const LOG_FLUSH_MS = 250

export type OpenedLog = { log: Logger; flush: () => void }

/** `flush` writes at once what still waits: before the process ends. */
export function openLog(level: LogLevel): OpenedLog {
  const destination = pino.destination({
    dest: STDERR_FD,
    sync: false,
    minLength: LOG_WRITE_BYTES / 2,
    maxWrite: LOG_WRITE_BYTES,
    maxLength: MAX_BUFFERED_LOG_BYTES,
    periodicFlush: LOG_FLUSH_MS,
  })
  destination.on('error', () => {}) // nobody reads it any more: requests are answered all the same
  return { log: pino({ level, base: { pid: process.pid } }, destination), flush: () => flushDestination(destination) }
}

function flushDestination(destination: ReturnType<typeof pino.destination>): void {
  try {
    destination.flushSync()
  } catch {
    // the reader is gone, or does not read
  }
}
