/** The ledger's part of the port: accounts, tokens, the daily budget and the installation's secrets. */

import type { Account, Addon, NewAccount, Plan, Role } from '../../accounts/account.ts'
import type { Actor, AuditEntry, AuditFilter } from '../../accounts/audit.ts'
import type { Period } from '../../accounts/period.ts'
import type { NewToken, Token } from '../../accounts/token.ts'
import type { Day, Instant } from '../../values/time.ts'

/** Who a token stands for, and how the token itself stands. */
export type TokenStanding = { account: Account; token: Token }

/** A request for units of one account's budget of one UTC day. `limit` is that of the plan in force. */
export type QuotaRequest = { account: number; day: Day; limit: number; requested: number; holder: string }

/**
 * `granted` units are the caller's. A single one is spent already; several are a hold, to be settled. 0 with `wait` means
 * that others hold unused units which are on their way back (ask again shortly), 0 without `wait` that the budget is spent.
 * `used` counts what is spent, `held` what anybody holds.
 */
export type QuotaGrant = { granted: number; used: number; leased: number; retryLater: boolean }

/** A file to be paid for out of one account's budget of one UTC day. */
export type FilePurchase = Omit<QuotaRequest, 'requested'> & { file: string }

/**
 * `spent`: a unit was spent on it. `paid`: one was already, on that day. `wait`: others hold unused units which are on their
 * way back (ask again shortly). `refused`: the budget is spent, and the file not paid for.
 */
export type FilePayment = { outcome: 'charged' | 'already_paid' | 'retry_later' | 'limit_reached'; used: number }

/** What became of a holder's units: those that calls took, and those that go back unused. */
export type Settlement = { account: number; day: Day; holder: string; spent: number; returned: number }

/** Calls to be noted: for which token and endpoint, on which day, how many, and when the last one came. */
export type UsageNote = {
  account: number
  token: number
  endpoint: string
  day: Day
  calls: number
  lastCall: Instant
}

/** One of the installation's secrets; `number`, 32 bits without sign, goes into what is signed with it. */
export type Secret = { number: number; bytes: Uint8Array }

/** Calls of one token to one endpoint on one UTC day. */
export type UsageCount = { day: Day; endpoint: string; token: number; calls: number }

/** What an actor may change. Each change that takes effect is written to the audit log in its own transaction. */
export interface LedgerChanges {
  /**
   * Makes an account, together with its first token where one is given; null where the address (case ignored) has one.
   * Throws, and makes nothing, where its periods overlap.
   */
  createAccount(account: NewAccount, now: Instant, token?: NewToken): Promise<Account | null>
  setPlan(account: number, plan: Plan): Promise<void>
  setRole(account: number, role: Role): Promise<void>
  /** False where it overlaps with a period of the account, or there is no such account: nothing is written then. */
  addPeriod(account: number, period: Period): Promise<boolean>
  /** Removes the period that begins on this day; false where there is none. */
  removePeriod(account: number, first: Day): Promise<boolean>
  setAddon(account: number, addon: Addon, on: boolean): Promise<void>
  /** False if the account is suspended already, or there is none. */
  suspendAccount(account: number, now: Instant): Promise<boolean>
  /** False if the account is not suspended, or there is none. */
  resumeAccount(account: number): Promise<boolean>
  /** Removes the account, its tokens and its usage. The audit log keeps what was changed of it. */
  deleteAccount(account: number): Promise<void>

  /** Throws where there is no such account. */
  createToken(account: number, token: NewToken, now: Instant): Promise<Token>
  /** False where the account has no such token that is still active. */
  revokeToken(account: number, token: number, now: Instant): Promise<boolean>

  /** Makes a new secret; the one before is honoured for 24 hours. Throws StoreFault where the operator gave the secret. */
  rotateSecret(now: Instant): Promise<void>
}

/** For who lets callers in. Durable: what was acknowledged survives a loss of power. */
export interface Ledger {
  /** The changes that the actor may make. */
  as(actor: Actor): LedgerChanges
  /** At most `limit` entries of the audit log, the oldest first, after the entry `after` (exclusive). */
  audit(filter: AuditFilter, after: number, limit: number): Promise<AuditEntry[]>

  account(email: string): Promise<Account | null>
  /** At most `limit` accounts by address, after `after` (exclusive). */
  accounts(after: string | null, limit: number): Promise<Account[]>
  tokens(account: number): Promise<Token[]>
  /** By SHA-256 of the token; null for an unknown one. Revoked and expired ones are returned: judging is the caller's. */
  findToken(hash: Uint8Array): Promise<TokenStanding | null>

  /**
   * Takes units: up to `want` as a hold while over 1,000 are left, otherwise exactly one, spent at once.
   * What holders hold that were not heard of (by take, settle or beat) for 2 seconds counts as spent, unless nobody was: then
   * the ledger was away, and from this word on their silence counts anew.
   */
  takeQuota(request: QuotaRequest): Promise<QuotaGrant>
  /**
   * Settles holds; at least once a second while one is open. A hold that counts as spent already, because its holder was
   * not heard of, stays so.
   */
  settleQuota(settlements: readonly Settlement[]): Promise<void>
  /** One unit that was spent at once comes back, because its call turned out to cost nothing. */
  refundUnit(account: number, day: Day): Promise<void>
  /** Spends a unit on a file, at most one an account, file and day: the unit and the mark that it is paid for are written together. */
  payForFile(purchase: FilePurchase): Promise<FilePayment>
  /** Whether an account has paid for a file on a day. */
  isFilePaid(account: number, day: Day, file: string): Promise<boolean>
  /** What is spent of a day's budget; holds that are open count as unspent. */
  usedUnits(account: number, day: Day): Promise<number>
  /** Adds to the usage by token, endpoint and day, and moves `last_used` on. */
  recordUsage(calls: readonly UsageNote[]): Promise<void>
  /** Calls by day, endpoint and token, in this order, from the day `from` to the day `to`, both inside; null: no bound. */
  usage(account: number, from: Day | null, to: Day | null): Promise<UsageCount[]>

  /** Says that a process lives; returns how many do. */
  heartbeat(holder: string, now: Instant): Promise<number>
  /**
   * The installation's secrets, made by insert-if-absent, the one to sign with first: the newest, from 10 seconds after it was
   * made, when every process knows it. A former one is listed for 24 hours.
   */
  secrets(now: Instant): Promise<Secret[]>
}
