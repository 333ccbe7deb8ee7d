/** The periods and add-ons of an account for operators. */

import { formatPeriod, periodsOverlap } from '../../accounts/period.ts'
import { parseDay } from '../../values/time.ts'
import { jsonResponse } from '../app/app-handler.ts'
import { ApiError } from '../errors.ts'
import { NO_CONTENT } from './accounts.ts'
import type { OperatorResponse } from './repeated-request.ts'
import type { OperatorCall } from './route.ts'
import { accountBody, readAccount, readAddon, readPeriod } from './values.ts'

/** The response is made without a further read, so that none can fail after the change. */
export async function addPeriodByOperator(call: OperatorCall): Promise<OperatorResponse> {
  const { context, operator, body } = call
  const period = readPeriod(body, 'period')
  const account = await readAccount(call)
  const { id, periods } = account
  if (!(await context.ledger.as(operator.actor).addPeriod(id, period))) {
    const other = periods.find((each) => periodsOverlap(each, period))
    throw new ApiError('conflict', { msg: `It overlaps with ${other ? formatPeriod(other) : 'another period'}.` })
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
