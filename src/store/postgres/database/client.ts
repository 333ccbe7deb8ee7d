/** A client that closes its connection if the server is silent for too long. A frozen server never closes one. */

import pg from 'pg'
import { CONNECT_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from './connection.ts'

/** Default maximum silence in milliseconds: longer than the statement timeout. */
export const DEFAULT_SILENCE_MS = STATEMENT_TIMEOUT_MS + 30_000
/**
 * Milliseconds between two checks, and the maximum that one check adds: a process that was delayed itself must not
 * blame the server.
 */
const SILENCE_CHECK_MS = 1_000
const MAX_SILENCE_STEP_MS = 2 * SILENCE_CHECK_MS

export type ClientConfig = pg.ClientConfig & {
  /** Milliseconds that the server may be silent during a query. */
  maxSilence: number
}

/** The error of a silent server; errors.ts recognizes it. */
export const SERVER_SILENT_MESSAGE = 'Connection terminated: the server has been silent for too long'

export class WatchedClient extends pg.Client {
  /** Milliseconds; Infinity for statements without a time limit. */
  maxSilence: number
  #pending = 0
  #silentMilliseconds = 0
  #checkedAt = 0
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  /** Sets the time to connect here: a pool would use the time to wait for a free connection. */
  constructor(config: ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
    this.maxSilence = config.maxSilence
  }

  override query(...args: never[]): never {
    const result = (super.query as (...args: never[]) => unknown).apply(this, args)
    if (result instanceof Promise) this.#trackResult(result)
    return result as never
  }

  #trackResult(result: Promise<unknown>): void {
    const onSettled = (): void => {
      this.#pending--
    }
    result.then(onSettled, onSettled)
    if (this.#pending++ === 0) this.#silentMilliseconds = 0
    if (this.#timer !== undefined) return
    this.#checkedAt = performance.now()
    this.#timer = setInterval(() => this.#checkSilence(), SILENCE_CHECK_MS).unref()
  }

  #checkSilence(): void {
    const now = performance.now()
    const { stream } = (this as unknown as { connection: { stream: import('node:net').Socket } }).connection
    const isSilent = this.#pending > 0 && stream.bytesRead === this.#bytes
    this.#silentMilliseconds = isSilent
      ? this.#silentMilliseconds + Math.min(now - this.#checkedAt, MAX_SILENCE_STEP_MS)
      : 0
    this.#checkedAt = now
    this.#bytes = stream.bytesRead
    const isOver = this.#silentMilliseconds >= this.maxSilence
    if (isOver) stream.destroy(new Error(SERVER_SILENT_MESSAGE))
    if (!isOver && this.#pending > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
