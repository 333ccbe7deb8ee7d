/** Reads values from the requests of operators. An error names the value in `field`. */

import { type Account, ADDONS, type Addon, PLANS, type Plan, ROLES, type Role } from '../../accounts/account.ts'
import { type Period, parsePeriod } from '../../accounts/period.ts'
import { planInForce } from '../../accounts/plan.ts'
import { type Day, utcText } from '../../values/time.ts'
import { valueError } from '../app/request-values.ts'
import { ApiError } from '../http/errors.ts'
import { readId } from '../http/parameters.ts'
import type { OperatorCall } from './route.ts'

/** The account of the path. Throws `not_found`. */
export async function readAccount({ context, params }: OperatorCall): Promise<Account> {
  const account = await context.ledger.accountById(readId(params.id ?? ''))
  if (account === null) throw new ApiError('not_found')
  return account
}

/** An account as the operator's paths write it. */
export function accountBody(account: Account, today: Day): object {
  const { id, email, role, plan, periods, addons, created, suspended } = account
  return {
    id,
    email,
    role,
    plan,
    plan_in_force: planInForce(account, today),
    periods: periods.map(({ plan, first, last }) => ({ plan, first, last })),
    addons,
    created: utcText(created),
    suspended: utcText(suspended),
  }
}

export const readPlan = (value: unknown): Plan => readChoice('plan', PLANS, value)
export const readRole = (value: unknown): Role => readChoice('role', ROLES, value)
export const readAddon = (value: unknown): Addon => readChoice('addon', ADDONS, value)

function readChoice<Choice extends string>(field: string, choices: readonly Choice[], value: unknown): Choice {
  const choice = choices.find((each) => each === value)
  if (choice === undefined) throw valueError(field, `"${field}" must be one of ${choices.join(', ')}.`)
  return choice
}

/** A period such as `{"plan": "basic", "first": "2026-01-01", "last": null}`. */
export function readPeriod(value: unknown, field: string): Period {
  const { plan, first, last = null, ...others } = Object(value) as Record<string, unknown>
  const text = [plan, first].every((each) => typeof each === 'string') && (last === null || typeof last === 'string')
  const period = text && Object.keys(others).length === 0 ? parsePeriod(`${plan}:${first}..${last ?? ''}`) : null
  if (period !== null) return period
  throw valueError(
    field,
    'A period has "plan" (basic or premium), "first", and "last" or null: days, the last one not before the first.',
  )
}

/** A whole number of the query string within bounds. */
export function readCount(value: unknown, field: string, { fallback, max }: { fallback: number; max: number }): number {
  if (value === undefined || value === '') return fallback
  const count = /^\d{1,12}$/.test(String(value)) ? Number(value) : 0
  if (count < 1 || count > max) throw valueError(field, `"${field}" must be a whole number from 1 to ${max}.`)
  return count
}
