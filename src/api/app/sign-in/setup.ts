/** Creates the first operator of an installation, with the one-time link that its server shows on the terminal. */

import { passwordProblem } from '../../../accounts/password.ts'
import { hashSecret } from '../../../accounts/session.ts'
import { clientRangeMatcher } from '../../../values/client-address.ts'
import { ApiError } from '../../errors.ts'
import type { OpenHandler } from '../app-handler.ts'
import { readBody, valueError } from '../request-values.ts'
import { countLinkUse } from './attempt-limits.ts'
import { startSession } from './session-cookie.ts'
import { readEmail, readText } from './sign-in.ts'

const isLoopback = clientRangeMatcher(['127.0.0.0/8', '::1'])
const ACTOR = { user: 'setup link', origin: 'web' }

/** Checks everything before it takes the link, so that a refused password does not use it up. */
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
