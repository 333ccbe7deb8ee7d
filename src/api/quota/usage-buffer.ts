/** The notes: which calls counted, gathered until the ledger gets them. */

import type { UsageNote } from '../../store/port/ledger.ts'
import type { Caller } from '../auth/authenticator.ts'

export class UsageBuffer {
  #records: UsageNote[] = []
  /** The last note of each token: most calls are one more of what it notes. */
  readonly #lastByToken = new Map<number, UsageNote>()

  add({ account, token, today: day, now }: Caller, endpoint: string): void {
    const last = this.#lastByToken.get(token)
    if (last !== undefined && last.endpoint === endpoint && last.day === day) {
      last.calls++
      last.lastCall = now
      return
    }
    const note = { account: account.id, token, endpoint, day, calls: 1, lastCall: now }
    this.#lastByToken.set(token, note)
    this.#records.push(note)
  }

  /** All of them; none is left. */
  drain(): UsageNote[] {
    const notes = this.#records
    this.#records = []
    this.#lastByToken.clear()
    return notes
  }

  /** Some that could not be handed over. */
  putBack(records: readonly UsageNote[]): void {
    this.#records.push(...records)
  }
}
