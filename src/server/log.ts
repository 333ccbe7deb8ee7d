/** Opens the log: JSON lines on standard error. Requests never wait for it. */

import { fstatSync } from 'node:fs'
import { type Logger, pino } from 'pino'
import type { LogLevel } from '../config/settings.ts'

const STDERR_FD = 2
/** The maximum number of bytes of a write to a pipe, which is atomic up to PIPE_BUF, and of a write to a file. */
const PIPE_WRITE_BYTES = 4_096
const FILE_WRITE_BYTES = 16_384
/** A write starts when fewer bytes than this are left: more than a line has. */
const LINE_BYTES = 512
/** The maximum number of buffered bytes if the reader of the log is slow. Further lines are dropped. */
const MAX_BUFFERED_LOG_BYTES = 16 * 2 ** 20
/** The maximum number of milliseconds that a line stays in the buffer. */
const LOG_FLUSH_MS = 250

export type OpenedLog = { log: Logger; flush: () => void }

/** Opens the log. `flush` writes the buffered lines; call it before the process ends. */
export function openLog(level: LogLevel): OpenedLog {
  const maxWrite = fstatSync(STDERR_FD).isFile() ? FILE_WRITE_BYTES : PIPE_WRITE_BYTES
  const destination = pino.destination({
    dest: STDERR_FD,
    sync: false,
    minLength: maxWrite - LINE_BYTES,
    maxWrite,
    maxLength: MAX_BUFFERED_LOG_BYTES,
    periodicFlush: LOG_FLUSH_MS,
  })
  destination.on('error', () => {}) // without a reader of the log, the server still answers requests
  const lines = new LinesOfTurn(destination, maxWrite)
  const flush = (): void => {
    process.off('exit', flush)
    lines.flushSync()
  }
  process.on('exit', flush) // after a fault that nothing catches
  return { log: pino({ level, base: { pid: process.pid } }, lines), flush }
}

/**
 * Collects the lines of one iteration of the event loop. For each write, the destination measures and copies all that it
 * holds, which took 3 µs of a /lookup.
 */
class LinesOfTurn {
  readonly #destination: ReturnType<typeof pino.destination>
  readonly #maxBytes: number
  readonly #endTurn = (): void => {
    this.#isScheduled = false
    this.#passOn()
  }
  #lines = ''
  #bytes = 0
  #isScheduled = false

  /** `maxBytes`: of a piece that the destination gets, unless a single line is longer. */
  constructor(destination: ReturnType<typeof pino.destination>, maxBytes: number) {
    this.#destination = destination
    this.#maxBytes = maxBytes
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line)
    if (this.#bytes + bytes > this.#maxBytes) this.#passOn()
    this.#lines += line
    this.#bytes += bytes
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#endTurn)
  }

  /** Writes everything; pino calls it after a fatal message. */
  flushSync(): void {
    this.#passOn()
    try {
      this.#destination.flushSync()
    } catch {
      // the log has no reader, or the reader is blocked
    }
  }

  #passOn(): void {
    if (this.#lines !== '') this.#destination.write(this.#lines)
    this.#lines = ''
    this.#bytes = 0
  }
}
