/** Rules of sessions and one-time links: their secrets, and for how long they are valid. */

import { createHash } from 'node:crypto'
import { type Instant, SECONDS_PER_DAY } from '../values/time.ts'

/** A session of the web page, without its secret. `browser` and `address` tell the owner which session it is. */
export type WebSession = {
  id: number
  account: number
  created: Instant
  last_used: Instant
  browser: string
  address: string
}

export type NewSession = Pick<WebSession, 'account' | 'browser' | 'address'> & { hash: Uint8Array }

/**
 * `sign-in`: signs in an account; `sign-up`: creates one; `password`: sets a new password; `setup`: creates the first
 * operator.
 */
export type LinkKind = 'sign-in' | 'sign-up' | 'password' | 'setup'

/**
 * A link that is valid once. `account` is null for one that creates an account. `email` is the address that a link of
 * `sign-up` verifies, otherwise null.
 */
export type OneTimeLink = { kind: LinkKind; account: number | null; email: string | null }

export type NewOneTimeLink = OneTimeLink & { hash: Uint8Array; expires: Instant }

/** Seconds without a request after which a session ends, and seconds after which it ends in any case. */
export const SESSION_IDLE_SECONDS = 14 * SECONDS_PER_DAY
export const SESSION_MAX_SECONDS = 30 * SECONDS_PER_DAY
/** The maximum number of sessions of an account. A new one ends the oldest. */
export const MAX_SESSIONS = 100

const SECRET_PATTERN = /^[A-Za-z0-9_-]{43}$/

/** When a session ends unless it is used. */
export function sessionEnd({ created, last_used }: Pick<WebSession, 'created' | 'last_used'>): Instant {
  return Math.min(created + SESSION_MAX_SECONDS, last_used + SESSION_IDLE_SECONDS)
}

/** SHA-256 of the secret of a session or the code of a link. Null if the text cannot be one. */
export function hashSecret(text: string): Uint8Array | null {
  return SECRET_PATTERN.test(text) ? createHash('sha256').update(text).digest() : null
}
