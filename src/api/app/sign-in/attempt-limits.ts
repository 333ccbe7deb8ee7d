/** Limits of sign-ins and of other attempts to guess a secret, counted over all processes in the ledger. */

import type { SignIns } from '../../../store/port/sign-in.ts'
import { clientAddressKey } from '../../../values/client-address.ts'
import type { Instant } from '../../../values/time.ts'
import { ApiError } from '../../errors.ts'

const MINUTE = 60

/** The maximum number of attempts, and the seconds in which they are counted. */
type Limit = { max: number; seconds: number }

/** Of one client at one account, and of one client at any. Another client can always sign in. */
const CLIENT_AT_ACCOUNT: Limit = { max: 10, seconds: 15 * MINUTE }
const CLIENT: Limit = { max: 50, seconds: 15 * MINUTE }
/** Attempts at one account by all clients, above which each one waits. */
const ACCOUNT: Limit = { max: 50, seconds: 60 * MINUTE }
/** Mail that a client causes, and mail to one address. */
const MAIL_BY_CLIENT: Limit = { max: 20, seconds: 60 * MINUTE }
const MAIL_TO_ADDRESS: Limit = { max: 3, seconds: 60 * MINUTE }
/** Milliseconds that an attempt then waits. */
const SLOW_DOWN_MS = 2_000

type AttemptStore = Pick<SignIns, 'countAttempt' | 'clearAttempts'>

/** The client and the address that it tries to sign in with. */
export type SignInAttempt = { client: string; email: string }

/**
 * Counts an attempt before its password is compared, so that many at once count too. Returns the milliseconds that it
 * must wait. Throws `too_many_attempts`.
 */
export async function countSignIn(ledger: AttemptStore, attempt: SignInAttempt, now: Instant): Promise<number> {
  await countClient(ledger, `sign-in ${clientAddressKey(attempt.client)}`, CLIENT, now)
  const [pair, account] = await ledger.countAttempt(
    [
      { key: pairKey(attempt), seconds: CLIENT_AT_ACCOUNT.seconds },
      { key: `sign-in ${attempt.email}`, seconds: ACCOUNT.seconds },
    ],
    now,
  )
  if (pair! > CLIENT_AT_ACCOUNT.max) throw tooManyAttempts(CLIENT_AT_ACCOUNT.seconds)
  return account! > ACCOUNT.max ? SLOW_DOWN_MS : 0
}

/** A successful sign-in: its client may make as many attempts again. */
export function forgetSignIn(ledger: AttemptStore, attempt: SignInAttempt): Promise<void> {
  return ledger.clearAttempts([pairKey(attempt)])
}

/**
 * Counts a request to send mail. Returns false if this address has had enough mail: no more is sent, but the answer is
 * the same. Each purpose has its own count, so that strangers who sign up do not keep an owner from a new password. Throws
 * `too_many_attempts` for the client.
 */
export async function countMail(
  ledger: AttemptStore,
  purpose: 'sign-up' | 'password',
  attempt: SignInAttempt,
  now: Instant,
): Promise<boolean> {
  await countClient(ledger, `mail ${clientAddressKey(attempt.client)}`, MAIL_BY_CLIENT, now)
  const limit = { key: `mail ${purpose} ${attempt.email}`, seconds: MAIL_TO_ADDRESS.seconds }
  const [address] = await ledger.countAttempt([limit], now)
  return address! <= MAIL_TO_ADDRESS.max
}

/** Counts an attempt of a client to use a one-time link. Throws `too_many_attempts`. */
export function countLinkUse(ledger: AttemptStore, client: string, now: Instant): Promise<void> {
  return countClient(ledger, `link ${clientAddressKey(client)}`, CLIENT, now)
}

/**
 * Counts an attempt of a client. Throws `too_many_attempts`. It comes before counts by email address, so that a client
 * that makes up addresses adds no more than `limit` rows of them.
 */
async function countClient(ledger: AttemptStore, key: string, { max, seconds }: Limit, now: Instant): Promise<void> {
  const [count] = await ledger.countAttempt([{ key, seconds }], now)
  if (count! > max) throw tooManyAttempts(seconds)
}

function pairKey({ client, email }: SignInAttempt): string {
  return `sign-in ${email} ${clientAddressKey(client)}`
}

/** `seconds`: within which the count ends. */
function tooManyAttempts(seconds: number): ApiError {
  return new ApiError('too_many_attempts', {
    msg: `There were too many attempts from this address: try again in ${seconds / MINUTE} minutes.`,
    retryAfter: seconds,
  })
}
