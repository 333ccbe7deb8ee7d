/** Signing in with a password or a one-time link, signing out, and the first operator of an installation. */

import type { Account } from '../../accounts/account.ts'
import { passwordProblem } from '../../accounts/password.ts'
import { hashSecret, sessionEnd } from '../../accounts/session.ts'
import { clientAddressKey, clientRangeMatcher } from '../../values/client-address.ts'
import {
  countLinkUse,
  countSignIn,
  forgetSignIn,
  refuseSpentClient,
  type SignInAttempt,
} from '../auth/attempt-limits.ts'
import type { ApiContext } from '../context/context.ts'
import { ApiError } from '../http/errors.ts'
import type { AppHandler, OpenHandler } from './app-handler.ts'
import { readBody, readEmail, readText, valueError } from './request-values.ts'
import { sessionBody, signedOutResponse, startSession } from './sessions.ts'

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

const isLoopback = clientRangeMatcher(['127.0.0.0/8', '::1'])
const ACTOR = { user: 'setup link', origin: 'web' }

/**
 * Creates the first operator, with the one-time link that the server shows on the terminal. Checks everything before it
 * takes the link, so that a refused password does not use it up.
 */
export const setUp: OpenHandler = async (context, request) => {
  const { ledger, passwords } = context
  const now = context.now()
  if (!isLoopback(request.ip)) throw new ApiError('link_invalid', { msg: 'This link works only on its own machine.' })
  await countLinkUse(ledger, request.ip, now)
  const body = readBody(request)
  const [email, password] = [readEmail(body), readText(body, 'password')]
  const problem = passwordProblem(password, email)
  if (problem !== null) throw valueError('password', problem)
  const stored = await passwords.hash(password)
  const hash = hashSecret(readText(body, 'code'))
  const link = hash === null || (await ledger.hasOperator()) ? null : await ledger.takeLink(hash, 'setup', now)
  if (link === null) throw new ApiError('link_invalid')
  const changes = ledger.as(ACTOR)
  const operator = { email, role: 'admin', plan: 'local', periods: [], addons: ['export', 'enriched'] } as const
  const account = (await changes.createAccount(operator, now)) ?? (await ledger.account(email))!
  await changes.setRole(account.id, 'admin')
  await changes.setPassword(account.id, stored, null, now)
  return startSession(context, request, { ...account, role: 'admin' }, now)
}
