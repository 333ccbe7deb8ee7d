/** A client that gives a connection up when its server has been silent for too long: one that is frozen ends nothing by itself. */

import pg from 'pg'
import { CONNECT_TIMEOUT, STATEMENT_TIMEOUT } from './connection.ts'

/** Milliseconds of silence where nothing else is said: longer than any statement may take. */
export const SILENCE = STATEMENT_TIMEOUT + 30_000
/** Milliseconds between two looks, and what one of them counts at most: a process that was late itself accuses nobody. */
const LOOK = 1_000
const LOOK_MOST = 2 * LOOK

export type ClientConfig = pg.ClientConfig & {
  /** Milliseconds for which the server may say nothing while it is asked something. */
  silence: number
}

/** What the server's silence is told as; trouble.ts knows it. */
export const SILENT = 'Connection terminated: the server has been silent for too long'

export class Client extends pg.Client {
  /** Milliseconds; Infinity for statements that take as long as they take. */
  silence: number
  #waiting = 0
  #silent = 0
  #looked = 0
  #bytes = 0
  #timer: NodeJS.Timeout | undefined

  /** The time to connect is its own: a pool gives it the time that one waits for a turn. */
  constructor(config: ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_TIMEOUT })
    this.silence = config.silence
  }

  override query(...given: never[]): never {
    const answer = (super.query as (...given: never[]) => unknown).apply(this, given)
    if (answer instanceof Promise) this.#watch(answer)
    return answer as never
  }

  #watch(answer: Promise<unknown>): void {
    const end = (): void => {
      this.#waiting--
    }
    answer.then(end, end)
    if (this.#waiting++ === 0) this.#silent = 0
    if (this.#timer !== undefined) return
    this.#looked = performance.now()
    this.#timer = setInterval(() => this.#look(), LOOK).unref()
  }

  #look(): void {
    const now = performance.now()
    const { stream } = (this as unknown as { connection: { stream: import('node:net').Socket } }).connection
    const isSilent = this.#waiting > 0 && stream.bytesRead === this.#bytes
    this.#silent = isSilent ? this.#silent + Math.min(now - this.#looked, LOOK_MOST) : 0
    this.#looked = now
    this.#bytes = stream.bytesRead
    const isOver = this.#silent >= this.silence
    if (isOver) stream.destroy(new Error(SILENT))
    if (!isOver && this.#waiting > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
