/** A client that gives a connection up when its server has been silent for too long: one that is frozen ends nothing by itself. */

import pg from 'pg'
import { CONNECT_TIMEOUT_MS, STATEMENT_TIMEOUT_MS } from './connection.ts'

/** Milliseconds of silence where nothing else is said: longer than any statement may take. */
export const DEFAULT_SILENCE_MS = STATEMENT_TIMEOUT_MS + 30_000
/** Milliseconds between two looks, and what one of them counts at most: a process that was late itself accuses nobody. */
const SILENCE_CHECK_MS = 1_000
const MAX_SILENCE_STEP_MS = 2 * SILENCE_CHECK_MS

export type ClientConfig = pg.ClientConfig & {
  /** Milliseconds for which the server may say nothing while it is asked something. */
  maxSilence: number
}

/** What the server's silence is told as; trouble.ts knows it. */
export const SERVER_SILENT_MESSAGE = 'Connection terminated: the server has been silent for too long'

export class WatchedClient extends pg.Client {
  /** Milliseconds; Infinity for statements that take as long as they take. */
  maxSilence: number
  #waiting = 0
  #silentMilliseconds = 0
  #checkedAt = 0
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  /** The time to connect is its own: a pool gives it the time that one waits for a turn. */
  constructor(config: ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT_MS })
    this.maxSilence = config.maxSilence
  }

  override query(...given: never[]): never {
    const answer = (super.query as (...given: never[]) => unknown).apply(this, given)
    if (answer instanceof Promise) this.#trackAnswer(answer)
    return answer as never
  }

  #trackAnswer(answer: Promise<unknown>): void {
    const end = (): void => {
      this.#waiting--
    }
    answer.then(end, end)
    if (this.#waiting++ === 0) this.#silentMilliseconds = 0
    if (this.#timer !== undefined) return
    this.#checkedAt = performance.now()
    this.#timer = setInterval(() => this.#checkSilence(), SILENCE_CHECK_MS).unref()
  }

  #checkSilence(): void {
    const now = performance.now()
    const { stream } = (this as unknown as { connection: { stream: import('node:net').Socket } }).connection
    const isSilent = this.#waiting > 0 && stream.bytesRead === this.#bytes
    this.#silentMilliseconds = isSilent
      ? this.#silentMilliseconds + Math.min(now - this.#checkedAt, MAX_SILENCE_STEP_MS)
      : 0
    this.#checkedAt = now
    this.#bytes = stream.bytesRead
    const isOver = this.#silentMilliseconds >= this.maxSilence
    if (isOver) stream.destroy(new Error(SERVER_SILENT_MESSAGE))
    if (!isOver && this.#waiting > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
