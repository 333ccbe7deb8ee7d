/** The accounts for operators: list, search, create, read, change, delete; their periods, add-ons and tokens. */

import { type NewAccount, parseEmail } from '../../accounts/account.ts'
import { formatPeriod, periodsOverlap } from '../../accounts/period.ts'
import { parseDay } from '../../values/time.ts'
import { valueError } from '../app/request-values.ts'
import { createTokenOf, listedTokens, tokenBody } from '../app/tokens.ts'
import { ApiError } from '../http/errors.ts'
import { readId } from '../http/parameters.ts'
import { errorResponse, jsonResponse, NO_CONTENT } from '../http/response.ts'
import type { OperatorCall, OperatorResponse } from './route.ts'
import { accountBody, readAccount, readAddon, readCount, readPeriod, readPlan, readRole } from './values.ts'

const ACCOUNT_ROWS = { fallback: 50, max: 200 }
const MAX_PERIODS = 1_000
const OWN_ACCOUNT_MESSAGE = 'This is your own account: another operator must make this change.'

export async function listAccountsPage({ context, operator, query }: OperatorCall): Promise<OperatorResponse> {
  const { search = '', after = '', limit: count } = query
  const limit = readCount(count, 'limit', ACCOUNT_ROWS)
  const prefix = String(search).trim().toLowerCase()
  const found = await context.ledger.accounts(String(after).toLowerCase(), limit + 1, prefix)
  const accounts = found.slice(0, limit)
  return jsonResponse(200, {
    accounts: accounts.map((account) => accountBody(account, operator.today)),
    next: found.length > limit ? accounts.at(-1)!.email : null,
  })
}

export async function createAccountByOperator({ context, operator, body }: OperatorCall): Promise<OperatorResponse> {
  const account = await context.ledger.as(operator.actor).createAccount(readNewAccount(body), operator.now)
  if (account === null) throw new ApiError('conflict', { msg: 'There is an account with this email address.' })
  return jsonResponse(201, accountBody(account, operator.today))
}

function readNewAccount(body: OperatorCall['body']): NewAccount {
  const { email: text, plan = 'free', role = 'user', periods = [], addons = [] } = body
  const email = typeof text === 'string' ? parseEmail(text) : null
  if (email === null) throw valueError('email', '"email" must be an email address such as ann@example.com.')
  if (!Array.isArray(periods) || periods.length > MAX_PERIODS)
    throw valueError('periods', `"periods" must be an array of at most ${MAX_PERIODS} periods.`)
  if (!Array.isArray(addons)) throw valueError('addons', '"addons" must be an array.')
  const read = periods.map((period) => readPeriod(period, 'periods'))
  if (read.some((each, index) => read.slice(0, index).some((other) => periodsOverlap(each, other))))
    throw valueError('periods', 'Two of the periods overlap.')
  const named = new Set(addons.map(readAddon))
  return { email, plan: readPlan(plan), role: readRole(role), periods: read, addons: [...named] }
}

export async function showAccountByOperator(call: OperatorCall): Promise<OperatorResponse> {
  return jsonResponse(200, accountBody(await readAccount(call), call.operator.today))
}

/** Each key is a change of its own. A value that is already set changes nothing. */
export async function changeAccountByOperator(call: OperatorCall): Promise<OperatorResponse> {
  const { context, operator, body } = call
  const plan = body.plan === undefined ? null : readPlan(body.plan)
  const role = body.role === undefined ? null : readRole(body.role)
  const { suspended = null } = body
  if (suspended !== null && typeof suspended !== 'boolean')
    throw valueError('suspended', '"suspended" must be true or false.')
  const { id } = await readAccount(call)
  if (role !== null || suspended !== null) refuseOwnAccount(call, id)
  const changes = context.ledger.as(operator.actor)
  if (plan !== null) await changes.setPlan(id, plan)
  if (role !== null) await changes.setRole(id, role)
  if (suspended === true) await changes.suspendAccount(id, operator.now)
  if (suspended === false) await changes.resumeAccount(id)
  return showAccountByOperator(call)
}

export async function deleteAccountByOperator(call: OperatorCall): Promise<OperatorResponse> {
  const { id, email } = await readAccount(call)
  refuseOwnAccount(call, id)
  if (parseEmail(String(call.query.confirm ?? '')) !== email)
    throw valueError('confirm', 'Send the email address of the account as "confirm": the deletion is permanent.')
  const { erase } = call.query
  if (erase !== undefined && erase !== 'true' && erase !== 'false')
    throw valueError('erase', '"erase" must be true or false.')
  await call.context.ledger.as(call.operator.actor).deleteAccount(id, erase === 'true')
  return NO_CONTENT
}

/** So that an operator does not lock out everybody by mistake. */
function refuseOwnAccount({ operator }: OperatorCall, account: number): void {
  if (operator.account.id === account) throw new ApiError('conflict', { msg: OWN_ACCOUNT_MESSAGE })
}

/** The response is made without a further read, so that none can fail after the change. */
export async function addPeriodByOperator(call: OperatorCall): Promise<OperatorResponse> {
  const { context, operator, body } = call
  const period = readPeriod(body, 'period')
  const account = await readAccount(call)
  const { id, periods } = account
  if (!(await context.ledger.as(operator.actor).addPeriod(id, period))) {
    const other = periods.find((each) => periodsOverlap(each, period))
    throw new ApiError('conflict', {
      msg: `It overlaps with ${other ? `the period ${formatPeriod(other)}` : 'another period'} of this account.`,
    })
  }
  const sorted = [...periods, period].toSorted((one, other) => (one.first < other.first ? -1 : 1))
  return jsonResponse(201, accountBody({ ...account, periods: sorted }, operator.today))
}

export async function removePeriodByOperator(call: OperatorCall): Promise<OperatorResponse> {
  const { context, operator, params } = call
  const { id } = await readAccount(call)
  const first = parseDay(params.first ?? '')
  if (first === null || !(await context.ledger.as(operator.actor).removePeriod(id, first)))
    throw new ApiError('not_found', { msg: 'The account has no period that starts on this day.' })
  return NO_CONTENT
}

export const addAddonByOperator = (call: OperatorCall): Promise<OperatorResponse> => setAddonByOperator(call, true)

export const removeAddonByOperator = (call: OperatorCall): Promise<OperatorResponse> => setAddonByOperator(call, false)

async function setAddonByOperator(call: OperatorCall, isOn: boolean): Promise<OperatorResponse> {
  const { context, operator, params } = call
  const addon = readAddon(params.addon)
  await context.ledger.as(operator.actor).setAddon((await readAccount(call)).id, addon, isOn)
  return NO_CONTENT
}

export async function listTokensByOperator(call: OperatorCall): Promise<OperatorResponse> {
  const { today, now } = call.operator
  return jsonResponse(200, { tokens: await listedTokens(call.context.ledger, await readAccount(call), today, now) })
}

/** A repeated request is answered with the ID of the token, because its text is not stored. */
export async function createTokenByOperator(call: OperatorCall): Promise<OperatorResponse> {
  const { context, operator, body } = call
  const { id } = await readAccount(call)
  const { secret, created } = await createTokenOf(context.ledger.as(operator.actor), id, body, operator.now)
  const repeated = new ApiError('conflict', {
    msg: 'The first request with this Idempotency-Key created a token, whose text was shown once: revoke it if it is lost.',
    extra: { token: created.id },
  })
  return {
    ...jsonResponse(201, { token: tokenBody(created, 0), secret }),
    repeated: errorResponse(repeated, 'top'),
  }
}

export async function revokeTokenByOperator(call: OperatorCall): Promise<OperatorResponse> {
  const { context, operator, params } = call
  const { id } = await readAccount(call)
  const token = readId(params.token ?? '')
  if (!(await context.ledger.as(operator.actor).revokeToken(id, token, operator.now)))
    throw new ApiError('not_found', { msg: 'The account has no active token with this ID.' })
  return NO_CONTENT
}
