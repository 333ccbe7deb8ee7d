/** The quota limiter: charges one unit of the account's daily budget per call, and records the charged calls. */

import { StoreFault, StoreUnavailableFault, UncertainWriteFault } from '../../store/port/fault.ts'
import type { Ledger } from '../../store/port/ledger.ts'
import type { Caller } from '../auth/authenticator.ts'
import { SYSTEM_TIMERS, type Timers, withTimeout } from '../http/timers.ts'
import { TokenLease, type UnitSource } from './quota-lease.ts'
import { dailyLimitOf, rateLimitError } from './rate-limit.ts'
import {
  type Reservation,
  type ReservationSink,
  UnitReservation,
  UnlimitedReservation,
  UsageBuffer,
} from './reservation.ts'

export type QuotaLimiterOptions = {
  ledger: Pick<
    Ledger,
    'takeQuota' | 'payForFile' | 'isFilePaid' | 'settleQuota' | 'refundUnit' | 'usedUnits' | 'usage' | 'recordUsage'
  >
  /** The name of this process, unique among all that share the store. */
  holder: string
  /** Called with the faults of background work. */
  onFault: (fault: unknown) => void
  timers?: Timers
}

/** Milliseconds between two settlements. An unused unit is returned with the second one, within a second. */
const SETTLE_MS = 400
/** Milliseconds after which a request is retried while other processes return units. */
const RETRY_MS = 20
/** Milliseconds for which used() waits for a settlement to end. */
const SETTLE_TIMEOUT_MS = 10_000

type WaitingReservation = PromiseWithResolvers<Reservation> & { caller: Caller }
/** A lease, the calls that wait for its units, and the number of open requests to the ledger. */
type AccountQuota = { lease: TokenLease; waiting: WaitingReservation[]; openRequests: number }

export class QuotaLimiter {
  readonly #options: Required<QuotaLimiterOptions>
  readonly #accounts = new Map<number, AccountQuota>()
  /** Quotas of an earlier day or limit that are not settled yet. */
  readonly #retired = new Set<AccountQuota>()
  readonly #usage = new UsageBuffer()
  readonly #refunds: RefundQueue
  readonly #stopTimer: () => void
  readonly #sink: ReservationSink
  #settling: Promise<void> = Promise.resolve()
  /** Open requests to the ledger. */
  readonly #openRequests = new Set<Promise<void>>()

  constructor(options: QuotaLimiterOptions) {
    this.#options = { timers: SYSTEM_TIMERS, ...options }
    this.#refunds = new RefundQueue(options)
    this.#sink = { usage: this.#usage, refund: (lease) => this.#refund(lease) }
    this.#stopTimer = this.#options.timers.every(SETTLE_MS, () => void this.settle())
  }

  /** Takes a unit for a call. Throws `rate_limited` if none is left. Calls of an account without a limit take none. */
  reserve(caller: Caller): Reservation | Promise<Reservation> {
    if (caller.limits.dailyCalls === null) return new UnlimitedReservation(caller, this.#usage)
    const quota = this.#accountQuota(caller)
    if (quota.waiting.length === 0 && quota.lease.takeIdleUnit()) {
      this.#renewIfLow(quota)
      return this.#createReservation(quota.lease, caller, 'leased')
    }
    const reservation = Promise.withResolvers<Reservation>()
    quota.waiting.push({ caller, ...reservation })
    this.#serveWaiting(quota)
    return reservation.promise
  }

  /**
   * Announces calls of a batch, so that their units come in few requests to the ledger. The returned function takes
   * calls back whose answers are known, or that will not be made. It does so from the lease that they were announced to:
   * the account may have another one by now, of the next day or of another limit.
   */
  expectCalls(caller: Caller, count: number): (done: number) => void {
    if (caller.limits.dailyCalls === null) return () => {}
    const { lease } = this.#accountQuota(caller)
    lease.expectCalls(count)
    return (done) => lease.expectCalls(-done)
  }

  /**
   * Admits a call that is never charged. Throws `rate_limited` if no unit is left, unless the call is for a `file` that
   * was charged today.
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

  /** Charges a file once per day, as a call of `endpoint`. Returns the remaining units. Throws `rate_limited`. */
  async chargeFile(caller: Caller, file: string, endpoint: string): Promise<number> {
    const { account, today } = caller
    const limit = dailyLimitOf(caller)
    const { ledger, holder } = this.#options
    for (;;) {
      const { outcome, used } = await ledger.payForFile({ account: account.id, day: today, limit, holder, file })
      if (outcome === 'limit_reached') throw rateLimitError(caller, used)
      if (outcome === 'charged') this.#usage.add(caller, endpoint)
      if (outcome !== 'retry_later') return Math.max(0, limit - used - this.#unsettledUnits(caller))
      await this.#options.timers.wait(RETRY_MS)
    }
  }

  /** The units that the account has spent today. */
  async used(caller: Caller): Promise<number> {
    if (caller.limits.dailyCalls === null) return this.#usedWithoutLimit(caller)
    // read both in the event loop iteration in which the settlement ends: the next one may start another settlement
    const used = this.#settling.then(async () => {
      const settled = this.#options.ledger.usedUnits(caller.account.id, caller.today)
      const unsettled = this.#unsettledUnits(caller)
      return (await settled) + unsettled
    })
    const units = await withTimeout(used, SETTLE_TIMEOUT_MS)
    if (units === null) throw new StoreUnavailableFault('the ledger does not respond')
    return units
  }

  /** The recorded calls of today of an account without a limit. */
  async #usedWithoutLimit({ account, today }: Caller): Promise<number> {
    await this.settle()
    const usage = await this.#options.ledger.usage(account.id, today, today)
    return usage.reduce((sum, { calls }) => sum + calls, 0)
  }

  /** The spent units that are not settled with the ledger. */
  #unsettledUnits({ account, today }: Caller): number {
    const lease = this.#accounts.get(account.id)?.lease
    return lease?.day === today ? lease.unsettled : 0
  }

  /** Settles all leases with the ledger, one settlement at a time. */
  settle(): Promise<void> {
    this.#settling = this.#settling.then(() => this.#settle())
    return this.#settling
  }

  /** Returns all units, including those of open requests, and settles the rest. */
  async close(): Promise<void> {
    this.#stopTimer()
    for (const quota of this.#accounts.values()) this.#retire(quota)
    this.#accounts.clear()
    await Promise.all(this.#openRequests)
    for (const { lease } of this.#retired) lease.retire()
    await this.settle()
  }

  #accountQuota(caller: Caller): AccountQuota {
    const { account, today } = caller
    const limit = dailyLimitOf(caller)
    const current = this.#accounts.get(account.id)
    if (current !== undefined && current.lease.day === today && current.lease.limit === limit) return current
    if (current !== undefined) this.#retire(current)
    const quota = { lease: new TokenLease(account.id, today, limit), waiting: [], openRequests: 0 }
    this.#accounts.set(account.id, quota)
    return quota
  }

  #retire(quota: AccountQuota): void {
    quota.lease.retire()
    this.#retired.add(quota)
  }

  /** Requests more units before the last one is taken, so that the next calls do not wait for the ledger. */
  #renewIfLow(quota: AccountQuota): void {
    if (quota.lease.isLow && quota.openRequests === 0 && !this.#retired.has(quota)) this.#requestUnits(quota)
  }

  /** Gives idle units to the waiting calls, and requests more if calls still wait. */
  #serveWaiting(quota: AccountQuota): void {
    const { lease, waiting } = quota
    while (waiting.length > 0 && lease.takeIdleUnit()) {
      const { caller, resolve } = waiting.shift()!
      resolve(this.#createReservation(lease, caller, 'leased'))
    }
    const maxRequests = lease.grantsSeveral ? Math.min(1, waiting.length) : waiting.length
    while (quota.openRequests < maxRequests) this.#requestUnits(quota)
  }

  #requestUnits(quota: AccountQuota): void {
    const request = this.#requestLease(quota).finally(() => this.#openRequests.delete(request))
    this.#openRequests.add(request)
  }

  async #requestLease(quota: AccountQuota): Promise<void> {
    quota.openRequests++
    const { lease, waiting } = quota
    const { account, day, limit } = lease
    const { ledger, holder } = this.#options
    try {
      const requested = lease.unitsToRequest
      const grant = await ledger.takeQuota({ account, day, limit, requested, holder })
      const source = lease.applyGrant(grant, requested)
      if (source === 'charged') this.#handToNext(quota)
      else if (grant.retryLater) await this.#options.timers.wait(RETRY_MS)
      else if (source === null) {
        const rejected = waiting.shift()
        rejected?.reject(rateLimitError(rejected.caller, grant.used))
      }
    } catch (fault) {
      // an unavailable store may fail slowly: fail all waiting calls, which would otherwise wait as long again
      const failed = fault instanceof StoreFault ? waiting.splice(0) : waiting.splice(0, 1)
      for (const { reject } of failed) reject(fault)
    }
    quota.openRequests--
    this.#serveWaiting(quota)
  }

  /** Gives a unit that the ledger already counts as spent to the next call, or refunds it. */
  #handToNext({ lease, waiting }: AccountQuota): void {
    const next = waiting.shift()
    if (next !== undefined) next.resolve(this.#createReservation(lease, next.caller, 'charged'))
    else void this.#refund(lease)
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
    const open = [...this.#retired, ...this.#accounts.values()].flatMap((quota) => {
      const settlement = quota.lease.nextSettlement(holder)
      return settlement === null ? [] : [{ quota, settlement }]
    })
    const records = this.#usage.drain()
    const settled = open.length === 0 ? null : ledger.settleQuota(open.map(({ settlement }) => settlement))
    for (const { quota, settlement } of open) if (settlement.spent > 0) this.#renewIfLow(quota)
    try {
      await settled
    } catch (fault) {
      // after an uncertain write, the ledger may already have the units
      if (!(fault instanceof UncertainWriteFault))
        for (const { quota, settlement } of open) quota.lease.revertSettlement(settlement)
      this.#options.onFault(fault)
    }
    try {
      if (records.length > 0) await ledger.recordUsage(records)
    } catch (fault) {
      if (!(fault instanceof UncertainWriteFault)) this.#usage.putBack(records)
      this.#options.onFault(fault)
    }
    await this.#refunds.retry()
    for (const quota of this.#retired) if (isSettled(quota)) this.#retired.delete(quota)
    for (const [account, quota] of this.#accounts) if (isSettled(quota)) this.#accounts.delete(account)
  }
}

function isSettled({ lease, waiting, openRequests }: AccountQuota): boolean {
  return lease.isEmpty && !lease.isExpectingCalls && waiting.length + openRequests === 0
}

type PendingRefund = Pick<TokenLease, 'account' | 'day'>
type RefundQueueOptions = { ledger: Pick<Ledger, 'refundUnit'>; onFault: (fault: unknown) => void }

/** Refunds units that the ledger counts as spent, and retries refunds that failed. */
class RefundQueue {
  readonly #options: RefundQueueOptions
  #pending: PendingRefund[] = []

  constructor(options: RefundQueueOptions) {
    this.#options = options
  }

  /**
   * Resolves when the refund succeeded or failed. After an uncertain write there is no retry, to avoid a double refund.
   */
  async refund(unit: PendingRefund): Promise<void> {
    try {
      await this.#options.ledger.refundUnit(unit.account, unit.day)
    } catch (fault) {
      if (!(fault instanceof UncertainWriteFault)) this.#pending.push(unit)
      this.#options.onFault(fault)
    }
  }

  /** Retries the refunds that failed. */
  async retry(): Promise<void> {
    const pending = this.#pending
    this.#pending = []
    await Promise.all(pending.map((each) => this.refund(each)))
  }
}
