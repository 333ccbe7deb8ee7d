/** Opens the log: JSON lines on standard error. Requests never wait for it. */

import { fstatSync } from 'node:fs'
import { type Logger, pino } from 'pino'
import type { LogLevel } from '../config/settings.ts'

const STDERR_FD = 2
/** The maximum number of bytes of a write to a pipe, which is atomic up to PIPE_BUF, and of a write to a file. */
const PIPE_WRITE_BYTES = 4_096
const FILE_WRITE_BYTES = 16_384
/** A write starts when a buffer has less room than this, and when the next lines do not fit. */
const LINE_BYTES = 512
/** The maximum number of buffered bytes if the reader of the log is slow. Further lines are dropped. */
const MAX_BUFFERED_LOG_BYTES = 16 * 2 ** 20
/** The maximum number of milliseconds that a line stays in the buffer. */
const LOG_FLUSH_MS = 250
/** The maximum number of milliseconds that a process waits at its end for a slow reader of the log. */
const MAX_END_MS = 2_000

/** `end` writes the buffered lines, and no later one; call it before the process ends. */
export type OpenedLog = { log: Logger; end: () => Promise<void> }

type Destination = ReturnType<typeof pino.destination>

/** Opens the log. A process that ends without `end` writes its last lines synchronously, if its reader takes them. */
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
  let hasReader = true
  destination.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') hasReader = false // the server still answers requests
  })
  const lines = new LinesOfIteration(destination, maxWrite)
  const passOn = (): void => lines.passOn()
  process.prependListener('exit', passOn) // before the listener of pino, which writes what the destination has
  return {
    log: pino({ level, base: { pid: process.pid } }, lines),
    async end() {
      process.off('exit', passOn)
      lines.end()
      if (hasReader) await endOf(destination)
    },
  }
}

/** Resolves when everything is written, when that fails, or after MAX_END_MS. Nothing is written after that. */
function endOf(destination: Destination): Promise<void> {
  return new Promise((resolve) => {
    const giveUp = (): void => {
      clearTimeout(timer)
      destination.destroy()
      resolve()
    }
    const timer = setTimeout(giveUp, MAX_END_MS)
    destination.once('error', giveUp).once('close', giveUp)
    destination.end()
  })
}

/**
 * Collects the lines of one iteration of the event loop. For each write, the destination flattens and measures all that it
 * holds, which took an eighth of a /lookup.
 */
class LinesOfIteration {
  readonly #destination: Destination
  readonly #maxBytes: number
  #lines = ''
  #bytes = 0
  #isScheduled = false
  #isEnded = false

  /** `maxBytes`: of a piece that the destination gets, unless a single line is longer. */
  constructor(destination: Destination, maxBytes: number) {
    this.#destination = destination
    this.#maxBytes = maxBytes
  }

  write(line: string): void {
    if (this.#isEnded) return
    const bytes = Buffer.byteLength(line)
    if (this.#bytes + bytes > this.#maxBytes) this.passOn()
    this.#lines += line
    this.#bytes += bytes
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.passOn()
    })
  }

  passOn(): void {
    if (this.#lines !== '') this.#destination.write(this.#lines)
    this.#lines = ''
    this.#bytes = 0
  }

  /** Passes the lines on and ignores later ones. */
  end(): void {
    this.passOn()
    this.#isEnded = true
  }
}
