/** Authenticates operators: the token of an operator, or the session of an account with the role `admin`. */

import { type Actor, webActor } from '../../accounts/audit.ts'
import { hashToken, isActive, OPERATOR_TOKEN_PREFIX, parseToken } from '../../accounts/token.ts'
import { type Day, dayOf, type Instant } from '../../values/time.ts'
import type { ApiContext } from '../context.ts'
import { ApiError } from '../errors.ts'
import type { ApiRequest } from '../http/exchange.ts'

/**
 * Who sends a request. `account.id`: the account of the session, or the ID of the token as a negative number. `holder`:
 * to whom keys of repeated requests belong.
 */
export type Operator = { account: { id: number }; actor: Actor; holder: string; now: Instant; today: Day }

/** Seconds between two records that a token is in use. */
const TOUCH_SECONDS = 60

const TOKEN_MESSAGE =
  'The token of the operator is unknown, revoked or expired: create one with "domaindex operator token create NAME".'

/**
 * Returns the operator of a request. `isChange`: a session needs the header X-CSRF-Token. Throws `token_invalid`,
 * `session_missing`, `origin_refused` and `operator_required`.
 */
export async function authenticateOperator(
  context: ApiContext,
  request: ApiRequest,
  { isChange }: { isChange: boolean },
): Promise<Operator> {
  const { authorization } = request.headers
  if (authorization !== undefined) return operatorOfToken(context, request, authorization)
  const { account, now, today } = await context.sessions.authenticateSession(request, { csrf: isChange })
  if (account.role !== 'admin') throw new ApiError('operator_required')
  const actor = webActor(account.email)
  return { account, actor, holder: `account ${account.id}`, now, today }
}

async function operatorOfToken(
  { ledger, clientLimits, now: clock, log }: ApiContext,
  { ip }: ApiRequest,
  authorization: string,
): Promise<Operator> {
  clientLimits.checkFailures(ip)
  const text = /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
  const parsed = parseToken(text, OPERATOR_TOKEN_PREFIX)
  const token = parsed === null ? null : await ledger.findOperatorToken(hashToken(parsed))
  const now = clock()
  if (token === null || !isActive(token, now)) throw new ApiError('token_invalid', { msg: TOKEN_MESSAGE })
  if (token.last_used === null || now - token.last_used >= TOUCH_SECONDS)
    ledger.touchOperatorToken(token.id, now).catch((err: unknown) => log.error({ err }, 'ledger failed'))
  const actor = { user: `operator token ${token.id} (${token.name})`, origin: 'admin' }
  return { account: { id: -token.id }, actor, holder: `token ${token.id}`, now, today: dayOf(now) }
}
