/** The meter: takes a unit of the account's daily budget for every call, exactly, and notes the calls that counted. */

import { setTimeout as sleep } from 'node:timers/promises'
import { AwayFault, DoubtFault, StoreFault } from '../store/fault.ts'
import type { Ledger } from '../store/ledger.ts'
import type { Caller } from './gate.ts'
import { inTime } from './in-time.ts'
import { Notes } from './notes.ts'
import { Purse, type Source } from './purse.ts'
import { limitOf, rateLimited } from './rate-limit.ts'
import { Returns } from './returns.ts'
import { type Books, Noted, type Permit, Unit } from './unit.ts'

export type MeterOptions = {
  ledger: Pick<Ledger, 'take' | 'pay' | 'isPaid' | 'settle' | 'giveBack' | 'used' | 'usage' | 'note'>
  /** Names this process among all that share the store. */
  holder: string
  /** Told of what went wrong while nobody waited for it. */
  onFault: (fault: unknown) => void
}

/** Milliseconds between two rounds: an unused unit is given back in the second after it came, within a second. */
const ROUND = 400
/** Milliseconds after which the ledger is asked again where units are on their way back. */
const RETRY = 20
/** Milliseconds for which what is spent waits for a round to end. */
const AWAITED = 10_000

type Waiting = { caller: Caller; resolve: (permit: Permit) => void; reject: (reason: unknown) => void }
/** A purse, the calls that wait for its units, and how many questions to the ledger are open. */
type Desk = { purse: Purse; waiting: Waiting[]; asking: number }

export class Meter {
  readonly #options: MeterOptions
  readonly #desks = new Map<number, Desk>()
  /** Desks of another day or limit that are not settled yet. */
  readonly #former = new Set<Desk>()
  readonly #notes = new Notes()
  readonly #returns: Returns
  readonly #timer: NodeJS.Timeout
  readonly #books: Books
  #round: Promise<void> = Promise.resolve()
  /** Those to the ledger that are not answered yet. */
  readonly #questions = new Set<Promise<void>>()

  constructor(options: MeterOptions) {
    this.#options = options
    this.#returns = new Returns(options)
    this.#books = { notes: this.#notes, giveBack: (purse) => this.#giveBack(purse) }
    this.#timer = setInterval(() => void this.settle(), ROUND).unref()
  }

  /** Takes a unit for a call. Throws `rate_limited` where none is left. Without a limit the call is noted, and takes none. */
  enter(caller: Caller): Permit | Promise<Permit> {
    if (caller.limits.queries === null) return new Noted(caller, this.#notes)
    const desk = this.#desk(caller)
    if (desk.waiting.length === 0 && desk.purse.takeIdle()) {
      this.#renew(desk)
      return this.#permit(desk.purse, caller, 'held')
    }
    return new Promise((resolve, reject) => {
      desk.waiting.push({ caller, resolve, reject })
      this.#serve(desk)
    })
  }

  /**
   * Lets in a call that is never counted. Throws `rate_limited` where no unit is left, unless it is for a `file` that was
   * paid for today.
   */
  async look(caller: Caller, file?: string): Promise<Permit> {
    const { account, today } = caller
    const limit = limitOf(caller)
    const used = await this.used(caller)
    if (used >= limit && !(file !== undefined && (await this.#options.ledger.isPaid(account.id, today, file)))) {
      throw rateLimited(caller, used)
    }
    return { remaining: Math.max(0, limit - used), charge: () => {}, release: async () => {} }
  }

  /**
   * Pays for a file, where that was not done today already, and notes it as a call of `endpoint`; returns the units that
   * are left. Throws `rate_limited` where none was.
   */
  async pay(caller: Caller, file: string, endpoint: string): Promise<number> {
    const { account, today: day } = caller
    const limit = limitOf(caller)
    const { ledger, holder } = this.#options
    for (;;) {
      const { is, used } = await ledger.pay({ account: account.id, day, limit, holder, file })
      if (is === 'refused') throw rateLimited(caller, used)
      if (is === 'spent') this.#notes.add(caller, endpoint)
      if (is !== 'wait') return Math.max(0, limit - used - this.#unsettled(caller))
      await sleep(RETRY)
    }
  }

  /** Units that the account has spent today. */
  async used(caller: Caller): Promise<number> {
    if (caller.limits.queries === null) return this.#noted(caller)
    // both in the turn in which the round ends: the next one may begin in the turn after it
    const used = this.#round.then(async () => {
      const known = this.#options.ledger.used(caller.account.id, caller.today)
      const own = this.#unsettled(caller)
      return (await known) + own
    })
    const units = await inTime(used, AWAITED)
    if (units === null) throw new AwayFault('the ledger does not answer')
    return units
  }

  /** Calls of today that are noted, for an account that takes no units. */
  async #noted({ account, today }: Caller): Promise<number> {
    await this.settle()
    const usage = await this.#options.ledger.usage(account.id, today, today)
    return usage.reduce((sum, { calls }) => sum + calls, 0)
  }

  /** Units that calls took and the ledger does not know of. */
  #unsettled({ account, today }: Caller): number {
    const purse = this.#desks.get(account.id)?.purse
    return purse?.day === today ? purse.unsettled : 0
  }

  /** Settles everything that is open with the ledger; one round at a time. */
  settle(): Promise<void> {
    this.#round = this.#round.then(() => this.#settle())
    return this.#round
  }

  /** Gives back all units, those that are on their way too, and settles the rest. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    for (const desk of this.#desks.values()) this.#retire(desk)
    this.#desks.clear()
    await Promise.all(this.#questions)
    for (const { purse } of this.#former) purse.retire()
    await this.settle()
  }

  #desk(caller: Caller): Desk {
    const { account, today } = caller
    const limit = limitOf(caller)
    const known = this.#desks.get(account.id)
    if (known !== undefined && known.purse.day === today && known.purse.limit === limit) return known
    if (known !== undefined) this.#retire(known)
    const desk = { purse: new Purse(account.id, today, limit), waiting: [], asking: 0 }
    this.#desks.set(account.id, desk)
    return desk
  }

  #retire(desk: Desk): void {
    desk.purse.retire()
    this.#former.add(desk)
  }

  /** Asks for more before the last unit is gone, so that the next calls need not wait for the ledger. */
  #renew(desk: Desk): void {
    if (desk.purse.isLow && desk.asking === 0 && !this.#former.has(desk)) this.#ask(desk)
  }

  /** Hands idle units to those that wait, and asks for more where somebody still does. */
  #serve(desk: Desk): void {
    const { purse, waiting } = desk
    while (waiting.length > 0 && purse.takeIdle()) {
      const { caller, resolve } = waiting.shift()!
      resolve(this.#permit(purse, caller, 'held'))
    }
    const questions = purse.isBulk ? Math.min(1, waiting.length) : waiting.length
    while (desk.asking < questions) this.#ask(desk)
  }

  #ask(desk: Desk): void {
    const question = this.#askFor(desk).finally(() => this.#questions.delete(question))
    this.#questions.add(question)
  }

  async #askFor(desk: Desk): Promise<void> {
    desk.asking++
    const { purse, waiting } = desk
    const { account, day, limit } = purse
    const { ledger, holder } = this.#options
    try {
      const grant = await ledger.take({ account, day, limit, want: purse.wanted, holder })
      const source = purse.learn(grant)
      if (source === 'spent') this.#hand(desk)
      else if (grant.wait) await sleep(RETRY)
      else if (source === null) {
        const refused = waiting.shift()
        refused?.reject(rateLimited(refused.caller, grant.used))
      }
    } catch (fault) {
      // a store that is away may take its time to fail: all that wait have waited for it, and would wait as long again
      const failed = fault instanceof StoreFault ? waiting.splice(0) : waiting.splice(0, 1)
      for (const { reject } of failed) reject(fault)
    }
    desk.asking--
    this.#serve(desk)
  }

  /** Hands on a unit that the ledger counts as spent already. */
  #hand({ purse, waiting }: Desk): void {
    const next = waiting.shift()
    if (next !== undefined) next.resolve(this.#permit(purse, next.caller, 'spent'))
    else void this.#giveBack(purse)
  }

  #giveBack(purse: Purse): Promise<void> {
    purse.restore('spent')
    return this.#returns.giveBack(purse)
  }

  #permit(purse: Purse, caller: Caller, source: Source): Permit {
    return new Unit(purse, caller, source, this.#books)
  }

  async #settle(): Promise<void> {
    const { ledger, holder } = this.#options
    const open = [...this.#former, ...this.#desks.values()].flatMap((desk) => {
      const settlement = desk.purse.round(holder)
      return settlement === null ? [] : [{ desk, settlement }]
    })
    const notes = this.#notes.take()
    const settled = open.length === 0 ? null : ledger.settle(open.map(({ settlement }) => settlement))
    for (const { desk, settlement } of open) if (settlement.spent > 0) this.#renew(desk)
    try {
      await settled
    } catch (fault) {
      // units that may be back with the ledger are nobody's here
      if (!(fault instanceof DoubtFault)) for (const { desk, settlement } of open) desk.purse.undo(settlement)
      this.#options.onFault(fault)
    }
    try {
      if (notes.length > 0) await ledger.note(notes)
    } catch (fault) {
      if (!(fault instanceof DoubtFault)) this.#notes.putBack(notes)
      this.#options.onFault(fault)
    }
    await this.#returns.retry()
    for (const desk of this.#former) if (isDone(desk)) this.#former.delete(desk)
    for (const [account, desk] of this.#desks) if (isDone(desk)) this.#desks.delete(account)
  }
}

function isDone({ purse, waiting, asking }: Desk): boolean {
  return purse.isEmpty && waiting.length + asking === 0
}
