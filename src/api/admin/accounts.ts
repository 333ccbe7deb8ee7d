/** The accounts for operators: list, search, create, read, change, delete. */

import { type NewAccount, parseEmail } from '../../accounts/account.ts'
import { periodsOverlap } from '../../accounts/period.ts'
import { jsonResponse } from '../app/app-handler.ts'
import { valueError } from '../app/request-values.ts'
import { ApiError } from '../errors.ts'
import type { OperatorResponse } from './repeated-request.ts'
import type { OperatorCall } from './route.ts'
import { accountBody, readAccount, readAddon, readCount, readPeriod, readPlan, readRole } from './values.ts'

const ACCOUNT_ROWS = { fallback: 50, max: 200 }
const MAX_PERIODS = 1_000
const OWN_ACCOUNT_MESSAGE = 'This is your own account: another operator must make this change.'

export const NO_CONTENT: OperatorResponse = { status: 204, body: [], headers: [] }

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
