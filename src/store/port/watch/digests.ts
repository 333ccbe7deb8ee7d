/** The digests' part of the ledger: which accounts get mail with their events, and how often. */

import type { Instant } from '../../../values/time.ts'

export const DIGEST_PERIODS = ['hourly', 'daily'] as const
export type DigestPeriod = (typeof DIGEST_PERIODS)[number]

/** `due`: when the next mail is written, if there are events. `sent`: the last mail; null if there was none. */
export type Digest = { period: DigestPeriod; due: Instant; sent: Instant | null }

/** `key`: ends the digest without a session. `seen`: the event after which the first mail begins. */
export type NewDigest = Pick<Digest, 'period' | 'due'> & { key: Uint8Array; seen: number }

/** A digest that one process writes until `claimed_until`. `failures`: mails in a row that were not accepted. */
export type ClaimedDigest = NewDigest & {
  account: number
  failures: number
  claimed_by: string
  claimed_until: Instant
}

/** `sent`: null if no mail was accepted. */
export type DigestOutcome = Pick<ClaimedDigest, 'seen' | 'due' | 'failures'> & { sent: Instant | null }

export interface Digests {
  /** Null: the account gets no mail. */
  digest(account: number): Promise<Digest | null>
  /** Begins a digest, or changes the period of the one that there is, which keeps its key and what it covers. */
  setDigest(account: number, digest: NewDigest): Promise<void>
  endDigest(account: number): Promise<void>
  /** Ends the digest with this key. Returns false if there is none. */
  endDigestByKey(key: Uint8Array): Promise<boolean>
}

/** For the process that writes the mail. */
export interface DigestQueue {
  /** Claims at most `limit` due digests that no process has claimed. */
  claimDigests(holder: string, until: Instant, limit: number, now: Instant): Promise<ClaimedDigest[]>
  /** Ends a claim. Writes nothing if it was lost. */
  recordDigest(claim: ClaimedDigest, outcome: DigestOutcome): Promise<void>
}
