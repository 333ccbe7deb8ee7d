/** Signing in with a password or a one-time link, and signing out. */

import { parseEmail } from '../../../accounts/account.ts'
import { hashSecret } from '../../../accounts/session.ts'
import type { Parameters } from '../../endpoints/parameters.ts'
import { ApiError } from '../../errors.ts'
import type { AppHandler, OpenHandler } from '../app-handler.ts'
import { readBody, valueError } from '../request-values.ts'
import { countLinkUse, countSignIn, forgetSignIn } from './attempt-limits.ts'
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
  const { ledger, passwords, now, wait } = context
  const body = readBody(request)
  const email = readEmail(body)
  const password = readText(body, 'password')
  const attempt = { client: request.ip, email }
  const delay = await countSignIn(ledger, attempt, now())
  if (delay > 0) await wait(delay)
  const account = await ledger.account(email)
  const stored = await ledger.password(account?.id ?? NO_ACCOUNT)
  const isRight = await passwords.verify(stored, password)
  if (account === null || !isRight || account.suspended !== null) throw new ApiError('sign_in_failed')
  await forgetSignIn(ledger, attempt)
  return startSession(context, request, account, now())
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
