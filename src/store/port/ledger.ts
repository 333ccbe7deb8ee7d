/** The ledger's part of the port: accounts, tokens, daily budgets and the installation's secrets. */

import type { Account, Addon, NewAccount, Plan, Role } from '../../accounts/account.ts'
import type { Actor, AuditEntry, AuditFilter, ForgottenNames } from '../../accounts/audit.ts'
import type { FilePayment, QuotaGrant } from '../../accounts/budget-arithmetic.ts'
import type { Period } from '../../accounts/period.ts'
import type { NewToken, Token, TokenRejection, TokenReplacement } from '../../accounts/token.ts'
import type { Day, Instant } from '../../values/time.ts'
import type { OperatorLedger, OperatorTokenChanges, ReleaseChanges } from './accounts/operator.ts'
import type { SignIns } from './accounts/sign-in.ts'
import type { LedgerPruning } from './retention.ts'
import type { DigestQueue, Digests } from './watch/digests.ts'
import type { Feeds } from './watch/feeds.ts'
import type { Watches } from './watch/watches.ts'
import type { WebhookQueue, Webhooks } from './watch/webhooks.ts'

/** A token and the account that owns it. */
export type TokenStanding = { account: Account; token: Token }

/** A request for units of an account's budget of one UTC day. `limit` is that of the current plan. */
export type QuotaRequest = { account: number; day: Day; limit: number; requested: number; holder: string }

/** A file to charge to an account's budget of one UTC day. */
export type FilePurchase = Omit<QuotaRequest, 'requested'> & { file: string }

/** The units of a lease that calls spent, and those that are returned unused. */
export type Settlement = { account: number; day: Day; holder: string; spent: number; returned: number }

/** Calls to record for a token, endpoint and day. `lastCall` is the time of the newest one. */
export type UsageNote = {
  account: number
  token: number
  endpoint: string
  day: Day
  calls: number
  lastCall: Instant
}

/** One of the installation's secrets. Whatever is signed with it contains `number`, an unsigned 32-bit integer. */
export type Secret = { number: number; bytes: Uint8Array }

/** The places where an installation keeps files: the file store, the zones and the inbox. */
export type PlaceName = 'files' | 'zones' | 'inbox'

/** Calls of one token to one endpoint on one UTC day. */
export type UsageCount = { day: Day; endpoint: string; token: number; calls: number }

/** The changes of an actor. Each effective change is written to the audit log in the same transaction. */
export interface LedgerChanges extends OperatorTokenChanges, ReleaseChanges {
  /**
   * Creates an account, and its first token if one is passed. Returns null if the email address (ignoring case) has an
   * account. Throws, and creates nothing, if its periods overlap.
   */
  createAccount(account: NewAccount, now: Instant, token?: NewToken): Promise<Account | null>
  setPlan(account: number, plan: Plan): Promise<void>
  setRole(account: number, role: Role): Promise<void>
  /** Returns false, and writes nothing, if it overlaps with a period of the account or the account does not exist. */
  addPeriod(account: number, period: Period): Promise<boolean>
  /** Removes the period that starts on this day. Returns false if there is none. */
  removePeriod(account: number, first: Day): Promise<boolean>
  setAddon(account: number, addon: Addon, enabled: boolean): Promise<void>
  /** Returns false if the account is suspended already or does not exist. */
  suspendAccount(account: number, now: Instant): Promise<boolean>
  /** Returns false if the account is not suspended or does not exist. */
  resumeAccount(account: number): Promise<boolean>
  /**
   * Removes the account and its tokens. Its usage and its entries of the audit log stay under its number, without its
   * mail address and the names of its tokens. With `erase`, they are removed too.
   */
  deleteAccount(account: number, erase?: boolean): Promise<void>

  /**
   * Sets the password, a hash, ends the sessions of the account except `keep` (null: all), and removes its one-time
   * links. Returns false if the account does not exist.
   */
  setPassword(account: number, hash: string, keep: number | null, now: Instant): Promise<boolean>

  /** Throws if the account does not exist. */
  createToken(account: number, token: NewToken, now: Instant): Promise<Token>
  /** As createToken, but rejects it if the account has `max` tokens that are active or less than a day old. */
  createTokenWithin(max: number, account: number, token: NewToken, now: Instant): Promise<Token | 'too_many_tokens'>
  /**
   * Creates a token with the name and the lifetime of an active one, which expires at `until`, unless it expires earlier.
   * Both are written together. `max`: as in createTokenWithin.
   */
  rotateToken(
    max: number,
    account: number,
    rotation: { token: number; replacement: TokenReplacement; until: Instant },
    now: Instant,
  ): Promise<Token | TokenRejection>
  /** Returns false if the account has no such active token. */
  revokeToken(account: number, token: number, now: Instant): Promise<boolean>

  /** Records that names were forgotten. It changes nothing else. */
  recordForgotten(names: ForgottenNames): Promise<void>
  /** Records that the data of an account was exported. It changes nothing else. */
  recordExport(account: number): Promise<void>

  /**
   * Creates a new secret. The former one stays valid for 24 hours. Throws StoreFault if the operator has set the
   * secret.
   */
  rotateSecret(now: Instant): Promise<void>
}

/** For processes that authenticate callers. Durable: acknowledged writes survive a loss of power. */
export interface Ledger
  extends SignIns,
    OperatorLedger,
    Watches,
    Webhooks,
    WebhookQueue,
    Digests,
    DigestQueue,
    Feeds,
    LedgerPruning {
  /** The changes that the actor may make. */
  as(actor: Actor): LedgerChanges
  /** At most `limit` entries of the audit log, oldest first, after the entry `after` (exclusive). */
  audit(filter: AuditFilter, after: number, limit: number): Promise<AuditEntry[]>
  /** At most `limit` entries, newest first, before the entry `before` (exclusive); null: from the newest one. */
  recentAudit(filter: AuditFilter, before: number | null, limit: number): Promise<AuditEntry[]>

  account(email: string): Promise<Account | null>
  /** At most `limit` accounts by email address, after `after` (exclusive), whose address starts with `prefix`. */
  accounts(after: string | null, limit: number, prefix?: string): Promise<Account[]>
  tokens(account: number): Promise<Token[]>
  /**
   * Finds a token by its SHA-256. Returns null for an unknown one. Also returns revoked and expired tokens; the caller
   * must check them.
   */
  findToken(hash: Uint8Array): Promise<TokenStanding | null>

  /**
   * Takes units: a lease of up to `requested` units while more than 1,000 are left, otherwise one unit, spent
   * immediately. A holder is silent if it has not called takeQuota, settleQuota, payForFile or heartbeat for 2 seconds.
   * Leases of silent holders expire: they count as spent until the holder settles them or takes more. If all holders
   * are silent, the ledger was unavailable, and their silence is counted from this call on.
   */
  takeQuota(request: QuotaRequest): Promise<QuotaGrant>
  /**
   * Settles leases, at least once a second while one is open. A settlement of 0 units restores an expired lease. Leases
   * of days before yesterday are not restored.
   */
  settleQuota(settlements: readonly Settlement[]): Promise<void>
  /** Returns one unit that was spent immediately, because its call turned out to be free. */
  refundUnit(account: number, day: Day): Promise<void>
  /** Spends at most one unit per account, file and day. The unit and the payment are written together. */
  payForFile(purchase: FilePurchase): Promise<FilePayment>
  /** Whether an account has paid for a file on a day. */
  isFilePaid(account: number, day: Day, file: string): Promise<boolean>
  /** The spent units of a day's budget. Open leases count as unspent. */
  usedUnits(account: number, day: Day): Promise<number>
  /** Adds to the usage by token, endpoint and day, and updates `last_used`. */
  recordUsage(calls: readonly UsageNote[]): Promise<void>
  /**
   * Calls by day, endpoint and token, in this order, from the day `from` to the day `to` (both inclusive; null:
   * unbounded).
   */
  usage(account: number, from: Day | null, to: Day | null): Promise<UsageCount[]>
  /** The spent units of each day of which the ledger still has the budget, oldest first. */
  budgets(account: number): Promise<{ day: Day; used: number }[]>
  /** The files that an account has paid for, by day and name, as far as the ledger still has them. */
  paidFiles(account: number): Promise<{ day: Day; file: string }[]>
  /** The numbers of deleted accounts whose usage is kept, ascending. */
  deletedAccounts(): Promise<number[]>

  /** The mark of a place; null if the installation has not claimed one yet. */
  placeMark(place: PlaceName): Promise<string | null>
  /**
   * Stores a mark of a place if the stored one is `former`; null: if there is none. Returns the mark that is stored.
   */
  claimPlace(place: PlaceName, mark: string, former: string | null): Promise<string>

  /** Records that a process is alive. Returns the number of live processes. */
  heartbeat(holder: string, now: Instant): Promise<number>
  /**
   * The installation's secrets, created if absent. The first one signs: the newest, from 10 seconds after its creation,
   * when every process knows it. A former secret is listed for 24 hours.
   */
  secrets(now: Instant): Promise<Secret[]>
}
