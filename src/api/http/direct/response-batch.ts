/** Writes the responses of one iteration of the event loop one after another. */

/** A response that is ready. `write` sends it, unless its client has disconnected. It never throws. */
type ReadyResponse = { write(): void }

/** The maximum number of responses that wait: the first one waits for the work of so many others. */
const MAX_WAITING = 16

/**
 * Collects responses. The first write wakes the thread of a client, or the network card, and the next ones find it awake.
 * Responses that were written each after its own work took a quarter more processor time.
 */
export class ResponseBatch {
  #waiting: ReadyResponse[] = []

  /** Writes the response, and those before it, after the work that this iteration of the event loop still has. */
  add(response: ReadyResponse): void {
    const waiting = this.#waiting.push(response)
    if (waiting === 1) setImmediate(() => this.write())
    else if (waiting === MAX_WAITING) this.write()
  }

  /** Writes the responses that wait. */
  write(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const response of waiting) response.write()
  }
}
