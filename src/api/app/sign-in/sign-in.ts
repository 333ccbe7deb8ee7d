/** Signing in with a password or a one-time link, and signing out. */

import { type Account, parseEmail } from '../../../accounts/account.ts'
import { hashSecret, sessionEnd } from '../../../accounts/session.ts'
import { clientAddressKey } from '../../../values/client-address.ts'
import type { ApiContext } from '../../context.ts'
import type { Parameters } from '../../endpoints/parameters.ts'
import { ApiError } from '../../errors.ts'
import type { AppHandler, OpenHandler } from '../app-handler.ts'
import { readBody, valueError } from '../request-values.ts'
import { countLinkUse, countSignIn, forgetSignIn, refuseSpentClient, type SignInAttempt } from './attempt-limits.ts'
import { sessionBody, signedOutResponse, startSession } from './session-cookie.ts'

/** The account, the CSRF token, and what the page must know of this installation. */
export const showSession: OpenHandler = async (context, request) => {
  const found = await context.sessions.findSession(request)
  const session = found && { account: found.caller.account, csrf: found.csrf }
  return { status: 200, body: [sessionBody(context, session, context.now())], headers: [] }
}

/**
 * Signs in with a password. The answer and its time are the same for an unknown address, a wrong password, an account
 * without a password and a suspended one.
 */
export const signIn: OpenHandler = async (context, request) => {
  const { ledger, attemptTurns, now } = context
  const body = readBody(request)
  const email = readEmail(body)
  const password = readText(body, 'password')
  const attempt = { client: request.ip, email }
  await refuseSpentClient(ledger, attempt, now())
  const account = await attemptTurns.run(email, () => checkPassword(context, attempt, password))
  await forgetSignIn(ledger, attempt)
  return startSession(context, request, account, now())
}

/** Counts an attempt and compares its password. Returns the account; throws `sign_in_failed`. */
async function checkPassword(
  { ledger, passwords, now, wait }: ApiContext,
  attempt: SignInAttempt,
  password: string,
): Promise<Account> {
  const account = await ledger.account(attempt.email)
  const id = account?.id ?? NO_ACCOUNT
  const delay = await countSignIn(ledger, attempt, now(), async () => {
    const sessions = await ledger.sessions(id)
    const key = clientAddressKey(attempt.client)
    return sessions.some((each) => now() < sessionEnd(each) && clientAddressKey(each.address) === key)
  })
  if (delay > 0) await wait(delay)
  const isRight = await passwords.verify(await ledger.password(id), password)
  if (account === null || !isRight || account.suspended !== null) throw new ApiError('sign_in_failed')
  return account
}

/** The number of no account: its password is read too, so that an unknown address takes as long. */
const NO_ACCOUNT = 0

/** Signs in with the code of a one-time link. */
export const signInByLink: OpenHandler = async (context, request) => {
  const { ledger, now } = context
  const hash = hashSecret(readText(readBody(request), 'code'))
  await countLinkUse(ledger, request.ip, now())
  const link = hash === null ? null : await ledger.takeLink(hash, 'sign-in', now())
  const account = link === null ? null : await ledger.accountById(link.account!)
  if (account === null || account.suspended !== null) throw new ApiError('link_invalid')
  return startSession(context, request, account, now())
}

export const signOut: AppHandler = async ({ ledger }, { account, session }) => {
  await ledger.endSession(account.id, session.id)
  return signedOutResponse()
}

/** The stored form of the email address. An invalid one is as wrong as an unknown one. */
export function readEmail(body: Parameters): string {
  const email = parseEmail(readText(body, 'email'))
  if (email === null) throw valueError('email', 'This is not an email address.')
  return email
}

/** The longest text that is read: any password, email address or code is shorter. */
const MAX_TEXT_LENGTH = 1_024

/** A text of the body. Throws `value_invalid` if it is missing. */
export function readText(body: Parameters, field: string): string {
  const value = body[field]
  if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT_LENGTH)
    throw valueError(field, `"${field}" must be a text of at most ${MAX_TEXT_LENGTH} characters.`)
  return value
}
