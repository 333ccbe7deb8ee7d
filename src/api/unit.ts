/** A call's unit of the daily budget, from when it is taken until it is known what becomes of it. */

import type { Caller } from './gate.ts'
import type { Notes } from './notes.ts'
import type { Purse, Source } from './purse.ts'

/** A call's unit, until it is known whether the call counts. Only the first of the two has an effect. */
export type Permit = {
  /** Units that are left beside it. */
  readonly remaining: number
  /** The call counts: its unit is spent. */
  charge(endpoint: string): void
  /** The call does not count: resolves when any process can have its unit. */
  release(): Promise<void>
}

/** Where it is written down what became of a unit. */
export type Books = { notes: Notes; giveBack: (purse: Purse) => Promise<void> }

export class Unit implements Permit {
  readonly #purse: Purse
  readonly #caller: Caller
  readonly #source: Source
  readonly #books: Books
  #isOpen = true

  constructor(purse: Purse, caller: Caller, source: Source, books: Books) {
    this.#purse = purse
    this.#caller = caller
    this.#source = source
    this.#books = books
  }

  get remaining(): number {
    return this.#purse.remaining
  }

  charge(endpoint: string): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    if (this.#source === 'held') this.#purse.spend()
    this.#books.notes.add(this.#caller, endpoint)
  }

  async release(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    if (this.#source === 'spent') await this.#books.giveBack(this.#purse)
    else this.#purse.restore('held')
  }
}

/** A call that takes no unit, because its account has no limit, and that is noted if it counts. */
export class Noted implements Permit {
  readonly remaining = Number.POSITIVE_INFINITY
  readonly #caller: Caller
  readonly #notes: Notes
  #isOpen = true

  constructor(caller: Caller, notes: Notes) {
    this.#caller = caller
    this.#notes = notes
  }

  charge(endpoint: string): void {
    if (this.#isOpen) this.#notes.add(this.#caller, endpoint)
    this.#isOpen = false
  }

  async release(): Promise<void> {
    this.#isOpen = false
  }
}
