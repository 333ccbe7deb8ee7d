/** Writes the answers of a batch, many at once: a write to a connection costs more than a look-up. */

import type { Writable } from 'node:stream'
import type { ResponseContext } from '../http/response.ts'
import { drained, type ResponseBody, writeParts } from '../http/write-parts.ts'
import type { LineAnswer } from './answer-lines.ts'

/** Bytes of answers that are written at once, if so many are ready. */
const CHUNK_BYTES = 65_536

export class AnswerWriter {
  readonly #responses: Pick<ResponseContext, 'unsentBytes'>
  readonly #sink: Writable
  #ready: LineAnswer[] = []
  #bytes = 0
  #isWaiting = false

  constructor(responses: Pick<ResponseContext, 'unsentBytes'>, sink: Writable) {
    this.#responses = responses
    this.#sink = sink
  }

  /**
   * Adds an answer. It is written when many bytes are ready, or when no answer was added in one turn of the event loop.
   * It is released when the client has taken it, or has disconnected. Resolves when the client can take more.
   */
  async add(answer: LineAnswer): Promise<void> {
    this.#ready.push(answer)
    this.#writeWhenIdle()
    this.#bytes += answer.bytes
    if (this.#bytes < CHUNK_BYTES) return
    this.#write()
    if (this.#sink.writableNeedDrain) await drained(this.#sink)
  }

  /** Writes the rest. */
  end(): void {
    this.#write()
    this.#sink.end()
  }

  #writeWhenIdle(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    const count = this.#ready.length
    setImmediate(() => {
      this.#isWaiting = false
      if (this.#ready.length > count) this.#writeWhenIdle()
      else this.#write()
    })
  }

  #write(): void {
    const answers = this.#ready
    const bytes = this.#bytes
    if (answers.length === 0) return
    this.#ready = []
    this.#bytes = 0
    this.#responses.unsentBytes += bytes
    writeParts(this.#sink, joinTexts(answers), () => {
      this.#responses.unsentBytes -= bytes
      for (const { release } of answers) release()
    })
  }
}

/** The parts of answers; texts that follow each other are one part. */
function joinTexts(answers: readonly LineAnswer[]): ResponseBody {
  const joined: (string | Uint8Array)[] = []
  let text = ''
  for (const { parts } of answers) {
    for (const part of parts) {
      if (typeof part === 'string') text += part
      else {
        joined.push(text, part)
        text = ''
      }
    }
  }
  return [...joined, text]
}
