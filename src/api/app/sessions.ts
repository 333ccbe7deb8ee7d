/** The sessions of accounts: their cookie, what the page learns about its own, their list, and the password. */

import type { Account } from '../../accounts/account.ts'
import { webActor } from '../../accounts/audit.ts'
import { passwordProblem } from '../../accounts/password.ts'
import { planInForce } from '../../accounts/plan.ts'
import { SESSION_MAX_SECONDS, sessionEnd } from '../../accounts/session.ts'
import { dayOf, type Instant, utcText } from '../../values/time.ts'
import { countPasswordChange } from '../auth/attempt-limits.ts'
import { csrfToken, SESSION_COOKIE } from '../auth/session-authenticator.ts'
import { newSecret } from '../auth/sign-in-link.ts'
import type { ApiContext } from '../context/context.ts'
import { ApiError } from '../http/errors.ts'
import type { ApiRequest } from '../http/exchange.ts'
import { readId } from '../http/parameters.ts'
import { readBody } from '../http/request.ts'
import type { ApiResponse } from '../http/response.ts'
import { jsonResponse, NO_CONTENT } from '../http/response.ts'
import type { AppHandler } from './app-handler.ts'
import { readText, valueError } from './request-values.ts'

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

/** The account of a request, the CSRF token, and what the page must know of this installation, as JSON. */
export async function readSession(
  { installation, sessions, now }: Pick<ApiContext, 'installation' | 'sessions' | 'now'>,
  request: ApiRequest,
): Promise<string> {
  const found = await sessions.findSession(request)
  return sessionBody({ installation }, found && { account: found.caller.account, csrf: found.csrf }, now())
}

/** What the page learns about its session; null: there is none. */
function sessionBody(
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
  return NO_CONTENT
}

/** Ends all sessions except the one of the request. */
export const endOtherSessions: AppHandler = async ({ ledger }, { account, session }) => {
  await ledger.endSessions(account.id, session.id)
  return NO_CONTENT
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

/** In the order in which they are looked for: many browsers name others too. */
const BROWSERS: readonly [name: string, pattern: RegExp][] = [
  ['Edge', /\bEdg(A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
]
const SYSTEMS: readonly [name: string, pattern: RegExp][] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
]
const MAX_OTHER_LENGTH = 40

/**
 * A short name of a browser and its system, so that the owner of a session can tell which one it is: `Firefox on Linux`;
 * for other clients the start of the header User-Agent.
 */
export function browserName(userAgent = ''): string {
  const find = (table: typeof BROWSERS) => table.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)]
  if (browser === undefined) return userAgent.slice(0, MAX_OTHER_LENGTH).trim() || 'unknown'
  return system === undefined ? browser : `${browser} on ${system}`
}
