/** Buffers the usage records of charged calls until the ledger stores them. */

import type { UsageNote } from '../../store/port/ledger.ts'
import type { Caller } from '../auth/authenticator.ts'

export class UsageBuffer {
  #records: UsageNote[] = []
  /**
   * The last record of each token, and under the negative ID of each account that of its sessions, whose token is 0. Most
   * calls only increment it.
   */
  readonly #lastByToken = new Map<number, UsageNote>()

  add({ account, token, today, now }: Caller, endpoint: string): void {
    const key = token === 0 ? -account.id : token
    const last = this.#lastByToken.get(key)
    if (last !== undefined && last.endpoint === endpoint && last.day === today) {
      last.calls++
      last.lastCall = now
      return
    }
    const record = { account: account.id, token, endpoint, day: today, calls: 1, lastCall: now }
    this.#lastByToken.set(key, record)
    this.#records.push(record)
  }

  /** Returns all records and empties the buffer. */
  drain(): UsageNote[] {
    const records = this.#records
    this.#records = []
    this.#lastByToken.clear()
    return records
  }

  /** Adds records that could not be stored. */
  putBack(records: readonly UsageNote[]): void {
    this.#records.push(...records)
  }
}
