/** The ledger's part for the web page: passwords, sessions, one-time links, and counts of attempts. */

import type { Account } from '../../../accounts/account.ts'
import type { LinkKind, NewOneTimeLink, NewSession, OneTimeLink, WebSession } from '../../../accounts/session.ts'
import type { Instant } from '../../../values/time.ts'

/** A session and the account that owns it. */
export type SessionStanding = { account: Account; session: WebSession }

/** Attempts to count under a key. `seconds`: from the first one, until the count starts again. */
export type AttemptLimit = { key: string; seconds: number }

export interface SignIns {
  /** The hash of an account's password; null if it has none. */
  password(account: number): Promise<string | null>
  accountById(account: number): Promise<Account | null>
  /** Whether an account of the role `admin` has a password and is not suspended. */
  hasOperator(): Promise<boolean>

  /**
   * Creates a session. Removes the sessions of the account that have ended, and its oldest ones above MAX_SESSIONS.
   * Throws if the account does not exist.
   */
  createSession(session: NewSession, now: Instant): Promise<WebSession>
  /** Finds a session by the SHA-256 of its secret. Also returns one that has ended; the caller must check it. */
  findSession(hash: Uint8Array): Promise<SessionStanding | null>
  /** The sessions of an account, oldest first, also those that have ended. */
  sessions(account: number): Promise<WebSession[]>
  /** Records that a session is in use. */
  touchSession(session: number, now: Instant): Promise<void>
  /** Returns false if the account has no such session. */
  endSession(account: number, session: number): Promise<boolean>
  /** Ends all sessions of an account except one; null: all. */
  endSessions(account: number, except: number | null): Promise<void>

  /** Stores a link, and removes links that have expired. */
  createLink(link: NewOneTimeLink, now: Instant): Promise<void>
  /** Removes a link of this kind and returns it; null if there is none, or if it has expired. */
  takeLink(hash: Uint8Array, kind: LinkKind, now: Instant): Promise<OneTimeLink | null>

  /** Counts an attempt under each key and returns the counts in their order. Removes counts that have ended. */
  countAttempt(limits: readonly AttemptLimit[], now: Instant): Promise<number[]>
  /** The counts of attempts under each key, in their order; 0 for one that has ended. */
  attempts(keys: readonly string[], now: Instant): Promise<number[]>
  /** Forgets the attempts under these keys. */
  clearAttempts(keys: readonly string[]): Promise<void>
}
