/** The notes: which calls counted, gathered until the ledger gets them. */

import type { CallNote } from '../store/ledger.ts'
import type { Caller } from './gate.ts'

export class Notes {
  #notes: CallNote[] = []
  /** The last note of each token: most calls are one more of what it notes. */
  readonly #last = new Map<number, CallNote>()

  add({ account, token, today: day, now }: Caller, endpoint: string): void {
    const last = this.#last.get(token)
    if (last !== undefined && last.endpoint === endpoint && last.day === day) {
      last.calls++
      last.last = now
      return
    }
    const note = { account: account.id, token, endpoint, day, calls: 1, last: now }
    this.#last.set(token, note)
    this.#notes.push(note)
  }

  /** All of them; none is left. */
  take(): CallNote[] {
    const notes = this.#notes
    this.#notes = []
    this.#last.clear()
    return notes
  }

  /** Some that could not be handed over. */
  putBack(notes: readonly CallNote[]): void {
    this.#notes.push(...notes)
  }
}
