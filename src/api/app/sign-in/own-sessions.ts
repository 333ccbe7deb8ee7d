/** The sessions of an account and its password: the account's own view, and its changes. */

import { webActor } from '../../../accounts/audit.ts'
import { passwordProblem } from '../../../accounts/password.ts'
import { sessionEnd } from '../../../accounts/session.ts'
import { ApiError } from '../../errors.ts'
import { type AppHandler, jsonResponse } from '../app-handler.ts'
import { readBody, readId, utcText, valueError } from '../request-values.ts'
import { countPasswordChange } from './attempt-limits.ts'
import { startSession } from './session-cookie.ts'
import { readText } from './sign-in.ts'

/** The sessions that have not ended, newest first. */
export const listSessions: AppHandler = async ({ ledger }, { account, session: own, now }) => {
  const sessions = (await ledger.sessions(account.id)).filter((each) => now < sessionEnd(each)).reverse()
  return jsonResponse(200, {
    sessions: sessions.map((each) => ({
      id: each.id,
      created: utcText(each.created),
      last_used: utcText(each.last_used),
      expires: utcText(sessionEnd(each)),
      browser: each.browser,
      address: each.address,
      current: each.id === own.id,
    })),
  })
}

export const endSession: AppHandler = async ({ ledger }, { account }, request) => {
  const { id } = request.params as { id: string }
  if (!(await ledger.endSession(account.id, readId(id)))) throw new ApiError('not_found')
  return { status: 204, body: [], headers: [] }
}

/** Ends all sessions except the one of the request. */
export const endOtherSessions: AppHandler = async ({ ledger }, { account, session }) => {
  await ledger.endSessions(account.id, session.id)
  return { status: 204, body: [], headers: [] }
}

/** Changes the password. All sessions end, and the browser gets a new one. */
export const changePassword: AppHandler = async (context, { account, now }, request) => {
  const { ledger, passwords } = context
  const body = readBody(request)
  await countPasswordChange(ledger, { client: request.ip, email: account.email }, now)
  const stored = await ledger.password(account.id)
  if (stored !== null && !(await passwords.verify(stored, readText(body, 'current'))))
    throw valueError('current', 'The current password is wrong.')
  const password = readText(body, 'password')
  const problem = passwordProblem(password, account.email)
  if (problem !== null) throw valueError('password', problem)
  const hash = await passwords.hash(password)
  await ledger.as(webActor(account.email)).setPassword(account.id, hash, null, now)
  return startSession(context, request, account, now)
}
