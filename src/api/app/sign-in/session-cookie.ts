/** Starts and ends sessions: the cookie of the browser, and what the page learns about its session. */

import type { Account } from '../../../accounts/account.ts'
import { planInForce } from '../../../accounts/plan.ts'
import { SESSION_MAX_SECONDS } from '../../../accounts/session.ts'
import { dayOf, type Instant } from '../../../values/time.ts'
import { newSecret } from '../../auth/sign-in-link.ts'
import type { ApiContext } from '../../context.ts'
import type { ApiRequest } from '../../http/exchange.ts'
import type { ApiResponse } from '../../http/response.ts'
import { csrfToken, SESSION_COOKIE } from '../session-authenticator.ts'
import { browserName } from './browser-name.ts'

/** A browser sends the cookie only to this host, by TLS or on its own machine, and not with requests of other sites. */
const COOKIE_ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax'

/** Creates a session of an account, ends the one of the request, and returns the response with its cookie. */
export async function startSession(
  context: ApiContext,
  request: ApiRequest,
  account: Account,
  now: Instant,
): Promise<ApiResponse> {
  const { ledger, sessions } = context
  const former = await sessions.findSession(request)
  const { text: secret, hash } = newSecret()
  const browser = browserName(request.headers['user-agent'])
  await ledger.createSession({ account: account.id, hash, browser, address: request.ip }, now)
  if (former !== null) await ledger.endSession(former.caller.account.id, former.caller.session.id)
  request.accessRecord.account = account.id
  const body = sessionBody(context, { account, csrf: csrfToken(secret) }, now)
  return { status: 200, body: [body], headers: ['Set-Cookie', cookie(secret, SESSION_MAX_SECONDS)] }
}

/** The response after a session has ended. */
export function signedOutResponse(): ApiResponse {
  return { status: 204, body: [], headers: ['Set-Cookie', cookie('', 0)] }
}

/** What the page learns about its session; null: there is none. */
export function sessionBody(
  { installation }: Pick<ApiContext, 'installation'>,
  session: { account: Account; csrf: string } | null,
  now: Instant,
): string {
  if (session === null) return JSON.stringify({ account: null, csrf: null, ...installation })
  const { account, csrf } = session
  const { email, role } = account
  return JSON.stringify({ account: { email, role, plan: planInForce(account, dayOf(now)) }, csrf, ...installation })
}

function cookie(secret: string, maxSeconds: number): string {
  return `${SESSION_COOKIE}=${secret}; ${COOKIE_ATTRIBUTES}; Max-Age=${maxSeconds}`
}
