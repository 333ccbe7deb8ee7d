/** The meter: takes a unit of the account's daily budget for every call, exactly, and notes the calls that counted. */

import { setTimeout as sleep } from 'node:timers/promises'
import { StoreFault, StoreUnavailableFault, UncertainWriteFault } from '../../store/port/fault.ts'
import type { Ledger } from '../../store/port/ledger.ts'
import type { Caller } from '../auth/authenticator.ts'
import { withTimeout } from '../with-timeout.ts'
import { TokenLease, type UnitSource } from './quota-lease.ts'
import { dailyLimitOf, rateLimitError } from './rate-limit.ts'
import { RefundQueue } from './refund-queue.ts'
import { type Reservation, type ReservationSink, UnitReservation, UnlimitedReservation } from './reservation.ts'
import { UsageBuffer } from './usage-buffer.ts'

export type QuotaLimiterOptions = {
  ledger: Pick<
    Ledger,
    'takeQuota' | 'payForFile' | 'isFilePaid' | 'settleQuota' | 'refundUnit' | 'usedUnits' | 'usage' | 'recordUsage'
  >
  /** Names this process among all that share the store. */
  holder: string
  /** Told of what went wrong while nobody waited for it. */
  onFault: (fault: unknown) => void
}

/** Milliseconds between two rounds: an unused unit is given back in the second after it came, within a second. */
const SETTLE_MS = 400
/** Milliseconds after which the ledger is asked again where units are on their way back. */
const RETRY_MS = 20
/** Milliseconds for which what is spent waits for a round to end. */
const SETTLE_TIMEOUT_MS = 10_000

type WaitingReservation = {
  caller: Caller
  resolve: (reservation: Reservation) => void
  reject: (reason: unknown) => void
}
/** A purse, the calls that wait for its units, and how many questions to the ledger are open. */
type AccountQuota = { lease: TokenLease; waiting: WaitingReservation[]; openRequests: number }

export class QuotaLimiter {
  readonly #options: QuotaLimiterOptions
  readonly #accounts = new Map<number, AccountQuota>()
  /** Desks of another day or limit that are not settled yet. */
  readonly #retired = new Set<AccountQuota>()
  readonly #usage = new UsageBuffer()
  readonly #refunds: RefundQueue
  readonly #timer: NodeJS.Timeout
  readonly #sink: ReservationSink
  #settling: Promise<void> = Promise.resolve()
  /** Those to the ledger that are not answered yet. */
  readonly #openRequests = new Set<Promise<void>>()

  constructor(options: QuotaLimiterOptions) {
    this.#options = options
    this.#refunds = new RefundQueue(options)
    this.#sink = { usage: this.#usage, refund: (purse) => this.#refund(purse) }
    this.#timer = setInterval(() => void this.settle(), SETTLE_MS).unref()
  }

  /** Takes a unit for a call. Throws `rate_limited` where none is left. Without a limit the call is noted, and takes none. */
  reserve(caller: Caller): Reservation | Promise<Reservation> {
    if (caller.limits.dailyCalls === null) return new UnlimitedReservation(caller, this.#usage)
    const desk = this.#accountQuota(caller)
    if (desk.waiting.length === 0 && desk.lease.takeIdleUnit()) {
      this.#renewIfLow(desk)
      return this.#createReservation(desk.lease, caller, 'leased')
    }
    return new Promise((resolve, reject) => {
      desk.waiting.push({ caller, resolve, reject })
      this.#serveWaiting(desk)
    })
  }

  /**
   * Lets in a call that is never counted. Throws `rate_limited` where no unit is left, unless it is for a `file` that was
   * paid for today.
   */
  async checkOnly(caller: Caller, file?: string): Promise<Reservation> {
    const { account, today } = caller
    const limit = dailyLimitOf(caller)
    const used = await this.used(caller)
    if (used >= limit && !(file !== undefined && (await this.#options.ledger.isFilePaid(account.id, today, file)))) {
      throw rateLimitError(caller, used)
    }
    return { remaining: Math.max(0, limit - used), charge: () => {}, release: async () => {} }
  }

  /**
   * Pays for a file, where that was not done today already, and notes it as a call of `endpoint`; returns the units that
   * are left. Throws `rate_limited` where none was.
   */
  async chargeFile(caller: Caller, file: string, endpoint: string): Promise<number> {
    const { account, today: day } = caller
    const limit = dailyLimitOf(caller)
    const { ledger, holder } = this.#options
    for (;;) {
      const { outcome, used } = await ledger.payForFile({ account: account.id, day, limit, holder, file })
      if (outcome === 'limit_reached') throw rateLimitError(caller, used)
      if (outcome === 'charged') this.#usage.add(caller, endpoint)
      if (outcome !== 'retry_later') return Math.max(0, limit - used - this.#unsettledUnits(caller))
      await sleep(RETRY_MS)
    }
  }

  /** Units that the account has spent today. */
  async used(caller: Caller): Promise<number> {
    if (caller.limits.dailyCalls === null) return this.#usedWithoutLimit(caller)
    // both in the turn in which the round ends: the next one may begin in the turn after it
    const used = this.#settling.then(async () => {
      const known = this.#options.ledger.usedUnits(caller.account.id, caller.today)
      const own = this.#unsettledUnits(caller)
      return (await known) + own
    })
    const units = await withTimeout(used, SETTLE_TIMEOUT_MS)
    if (units === null) throw new StoreUnavailableFault('the ledger does not answer')
    return units
  }

  /** Calls of today that are noted, for an account that takes no units. */
  async #usedWithoutLimit({ account, today }: Caller): Promise<number> {
    await this.settle()
    const usage = await this.#options.ledger.usage(account.id, today, today)
    return usage.reduce((sum, { calls }) => sum + calls, 0)
  }

  /** Units that calls took and the ledger does not know of. */
  #unsettledUnits({ account, today }: Caller): number {
    const purse = this.#accounts.get(account.id)?.lease
    return purse?.day === today ? purse.unsettled : 0
  }

  /** Settles everything that is open with the ledger; one round at a time. */
  settle(): Promise<void> {
    this.#settling = this.#settling.then(() => this.#settle())
    return this.#settling
  }

  /** Gives back all units, those that are on their way too, and settles the rest. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    for (const desk of this.#accounts.values()) this.#retire(desk)
    this.#accounts.clear()
    await Promise.all(this.#openRequests)
    for (const { lease: purse } of this.#retired) purse.retire()
    await this.settle()
  }

  #accountQuota(caller: Caller): AccountQuota {
    const { account, today } = caller
    const limit = dailyLimitOf(caller)
    const known = this.#accounts.get(account.id)
    if (known !== undefined && known.lease.day === today && known.lease.limit === limit) return known
    if (known !== undefined) this.#retire(known)
    const desk = { lease: new TokenLease(account.id, today, limit), waiting: [], openRequests: 0 }
    this.#accounts.set(account.id, desk)
    return desk
  }

  #retire(desk: AccountQuota): void {
    desk.lease.retire()
    this.#retired.add(desk)
  }

  /** Asks for more before the last unit is gone, so that the next calls need not wait for the ledger. */
  #renewIfLow(desk: AccountQuota): void {
    if (desk.lease.isLow && desk.openRequests === 0 && !this.#retired.has(desk)) this.#requestUnits(desk)
  }

  /** Hands idle units to those that wait, and asks for more where somebody still does. */
  #serveWaiting(desk: AccountQuota): void {
    const { lease: purse, waiting } = desk
    while (waiting.length > 0 && purse.takeIdleUnit()) {
      const { caller, resolve } = waiting.shift()!
      resolve(this.#createReservation(purse, caller, 'leased'))
    }
    const questions = purse.grantsSeveral ? Math.min(1, waiting.length) : waiting.length
    while (desk.openRequests < questions) this.#requestUnits(desk)
  }

  #requestUnits(desk: AccountQuota): void {
    const question = this.#requestLease(desk).finally(() => this.#openRequests.delete(question))
    this.#openRequests.add(question)
  }

  async #requestLease(desk: AccountQuota): Promise<void> {
    desk.openRequests++
    const { lease: purse, waiting } = desk
    const { account, day, limit } = purse
    const { ledger, holder } = this.#options
    try {
      const grant = await ledger.takeQuota({ account, day, limit, requested: purse.unitsToRequest, holder })
      const source = purse.applyGrant(grant)
      if (source === 'charged') this.#handToNext(desk)
      else if (grant.retryLater) await sleep(RETRY_MS)
      else if (source === null) {
        const refused = waiting.shift()
        refused?.reject(rateLimitError(refused.caller, grant.used))
      }
    } catch (fault) {
      // a store that is away may take its time to fail: all that wait have waited for it, and would wait as long again
      const failed = fault instanceof StoreFault ? waiting.splice(0) : waiting.splice(0, 1)
      for (const { reject } of failed) reject(fault)
    }
    desk.openRequests--
    this.#serveWaiting(desk)
  }

  /** Hands on a unit that the ledger counts as spent already. */
  #handToNext({ lease: purse, waiting }: AccountQuota): void {
    const next = waiting.shift()
    if (next !== undefined) next.resolve(this.#createReservation(purse, next.caller, 'charged'))
    else void this.#refund(purse)
  }

  #refund(lease: TokenLease): Promise<void> {
    lease.releaseUnit('charged')
    return this.#refunds.refund(lease)
  }

  #createReservation(lease: TokenLease, caller: Caller, source: UnitSource): Reservation {
    return new UnitReservation(lease, caller, source, this.#sink)
  }

  async #settle(): Promise<void> {
    const { ledger, holder } = this.#options
    const open = [...this.#retired, ...this.#accounts.values()].flatMap((desk) => {
      const settlement = desk.lease.nextSettlement(holder)
      return settlement === null ? [] : [{ desk, settlement }]
    })
    const notes = this.#usage.drain()
    const settled = open.length === 0 ? null : ledger.settleQuota(open.map(({ settlement }) => settlement))
    for (const { desk, settlement } of open) if (settlement.spent > 0) this.#renewIfLow(desk)
    try {
      await settled
    } catch (fault) {
      // units that may be back with the ledger are nobody's here
      if (!(fault instanceof UncertainWriteFault))
        for (const { desk, settlement } of open) desk.lease.revertSettlement(settlement)
      this.#options.onFault(fault)
    }
    try {
      if (notes.length > 0) await ledger.recordUsage(notes)
    } catch (fault) {
      if (!(fault instanceof UncertainWriteFault)) this.#usage.putBack(notes)
      this.#options.onFault(fault)
    }
    await this.#refunds.retry()
    for (const desk of this.#retired) if (isSettled(desk)) this.#retired.delete(desk)
    for (const [account, desk] of this.#accounts) if (isSettled(desk)) this.#accounts.delete(account)
  }
}

function isSettled({ lease, waiting, openRequests }: AccountQuota): boolean {
  return lease.isEmpty && waiting.length + openRequests === 0
}
