/** Limits of sign-ins and of other attempts to guess a secret, counted over all processes in the ledger. */

import type { SignIns } from '../../store/port/accounts/sign-in.ts'
import { clientAddressKey, clientSiteKey } from '../../values/client-address.ts'
import type { Instant } from '../../values/time.ts'
import { ApiError } from '../http/errors.ts'

const MINUTE = 60

/** The maximum number of attempts, and the seconds in which they are counted. */
type Limit = { max: number; seconds: number }

/** Of one client at one account, and of one client at any. Another client can always sign in. */
const CLIENT_AT_ACCOUNT: Limit = { max: 10, seconds: 15 * MINUTE }
const CLIENT: Limit = { max: 50, seconds: 15 * MINUTE }
/**
 * Of all clients that change the password of one account: a stolen session gives no more guesses from many addresses.
 */
const PASSWORD_CHANGE: Limit = { max: 10, seconds: 15 * MINUTE }
/** The clients of one /48 of IPv6 may together make this many times as many attempts as one. */
const CLIENTS_OF_A_SITE = 4
/** Attempts at one account by all clients, above which each one waits. */
const ACCOUNT: Limit = { max: 50, seconds: 60 * MINUTE }
/** Attempts at one account by all clients, above which only clients of its open sessions may go on. */
const MAX_AT_ACCOUNT = 300
/** Attempts at one account that wait for one another, in this process. */
const MAX_IN_TURN = 10
/** Mail that a client causes, and mail to one address. */
const MAIL_BY_CLIENT: Limit = { max: 20, seconds: 60 * MINUTE }
const MAIL_TO_ADDRESS: Limit = { max: 3, seconds: 60 * MINUTE }
/** Milliseconds that an attempt then waits. */
const SLOW_DOWN_MS = 2_000

type AttemptStore = Pick<SignIns, 'countAttempt' | 'clearAttempts'>
type AttemptReader = Pick<SignIns, 'attempts'>

/** The client and the address that it tries to sign in with. */
export type SignInAttempt = { client: string; email: string }

/**
 * Counts an attempt before its password is compared, so that many at once count too. Returns the milliseconds that it
 * must wait. Throws `too_many_attempts`. `isKnown`: whether the client has an open session of the account, so that
 * strangers cannot lock out the owner. It is called only above the limit of the account.
 */
export async function countSignIn(
  ledger: AttemptStore,
  attempt: SignInAttempt,
  now: Instant,
  isKnown: () => Promise<boolean> = async () => false,
): Promise<number> {
  await countClient(ledger, 'sign-in', attempt.client, CLIENT, now)
  await countClient(ledger, `sign-in ${attempt.email}`, attempt.client, CLIENT_AT_ACCOUNT, now)
  const [count] = await ledger.countAttempt([{ key: `sign-in ${attempt.email}`, seconds: ACCOUNT.seconds }], now)
  if (count! > MAX_AT_ACCOUNT && !(await isKnown())) throw tooManyAttempts(ACCOUNT.seconds, ACCOUNT_MESSAGE)
  return count! > ACCOUNT.max ? SLOW_DOWN_MS : 0
}

/**
 * Counts an attempt to change a password, before the current one is compared. Only clients with a session of the account
 * get here, and sign-ins have counts of their own: strangers cannot keep the owner from a change, and a change keeps
 * nobody from signing in. Throws `too_many_attempts`.
 */
export async function countPasswordChange(
  ledger: AttemptStore,
  { client, email }: SignInAttempt,
  now: Instant,
): Promise<void> {
  const { max, seconds } = PASSWORD_CHANGE
  await countClient(ledger, 'password', client, CLIENT, now)
  const [count] = await ledger.countAttempt([{ key: `password ${email}`, seconds }], now)
  if (count! > max) throw tooManyAttempts(seconds, CHANGE_MESSAGE)
}

const CHANGE_MESSAGE = 'There were too many attempts to change this password: try again in 15 minutes.'

/**
 * Throws `too_many_attempts` for a client that is at its limit already. It counts nothing, and comes before the attempt
 * takes one of the places of the account, so that one client cannot keep the others from them.
 */
export async function refuseSpentClient(
  ledger: AttemptReader,
  { client, email }: SignInAttempt,
  now: Instant,
): Promise<void> {
  for (const [what, { max, seconds }] of [
    ['sign-in', CLIENT],
    [`sign-in ${email}`, CLIENT_AT_ACCOUNT],
  ] as const) {
    const keys = clientKeys(what, client)
    const counts = await ledger.attempts(
      keys.map(({ key }) => key),
      now,
    )
    if (keys.some(({ share }, index) => counts[index]! >= max * share))
      throw tooManyAttempts(seconds, CLIENT_MESSAGE(seconds))
  }
}

const ACCOUNT_MESSAGE =
  'There were too many attempts at this account: sign in where you are signed in already, by a link, or in an hour.'

/** A successful sign-in: its client may make as many attempts again. */
export function forgetSignIn(ledger: AttemptStore, { client, email }: SignInAttempt): Promise<void> {
  return ledger.clearAttempts(clientKeys(`sign-in ${email}`, client).map(({ key }) => key))
}

/** Attempts at one account, one after another, so that many clients guess no faster than one. */
export class AttemptTurns {
  readonly #turns = new Map<string, { count: number; last: Promise<unknown> }>()

  /** Runs `work` after the earlier attempts at this address. Throws `too_many_attempts` if many wait. */
  async run<Result>(email: string, work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turns.get(email) ?? { count: 0, last: Promise.resolve() }
    if (turn.count >= MAX_IN_TURN) throw tooManyAttempts(SLOW_DOWN_MS / 1000, BUSY_MESSAGE)
    this.#turns.set(email, turn)
    turn.count++
    const result = turn.last.then(work)
    turn.last = result.catch(() => {})
    try {
      return await result
    } finally {
      if (--turn.count === 0) this.#turns.delete(email)
    }
  }
}

const BUSY_MESSAGE = 'Other attempts at this account are in progress: try again in a moment.'

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
  await countClient(ledger, 'mail', attempt.client, MAIL_BY_CLIENT, now)
  const limit = { key: `mail ${purpose} ${attempt.email}`, seconds: MAIL_TO_ADDRESS.seconds }
  const [address] = await ledger.countAttempt([limit], now)
  return address! <= MAIL_TO_ADDRESS.max
}

/** Counts an attempt of a client to use a one-time link. Throws `too_many_attempts`. */
export function countLinkUse(ledger: AttemptStore, client: string, now: Instant): Promise<void> {
  return countClient(ledger, 'link', client, CLIENT, now)
}

/**
 * Counts an attempt of a client, and of the /48 of its IPv6 address. Throws `too_many_attempts`. It comes before counts
 * by email address, so that a client that makes up addresses adds no more than `limit` rows of them.
 */
async function countClient(
  ledger: AttemptStore,
  what: string,
  client: string,
  { max, seconds }: Limit,
  now: Instant,
): Promise<void> {
  const keys = clientKeys(what, client)
  const counts = await ledger.countAttempt(
    keys.map(({ key }) => ({ key, seconds })),
    now,
  )
  if (keys.some(({ share }, index) => counts[index]! > max * share))
    throw tooManyAttempts(seconds, CLIENT_MESSAGE(seconds))
}

/** The keys of a client, with how many times the limit of one client each may have. */
function clientKeys(what: string, client: string): { key: string; share: number }[] {
  const own = { key: `${what} ${clientAddressKey(client)}`, share: 1 }
  const site = clientSiteKey(client)
  return site === null ? [own] : [own, { key: `${what} ${site}/48`, share: CLIENTS_OF_A_SITE }]
}

const CLIENT_MESSAGE = (seconds: number): string =>
  `There were too many attempts from this address: try again in ${seconds / MINUTE} minutes.`

/** `seconds`: within which the count ends. */
function tooManyAttempts(seconds: number, msg: string): ApiError {
  return new ApiError('too_many_attempts', { msg, retryAfter: seconds })
}
