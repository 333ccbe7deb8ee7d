/** An account as an operator reads it. */

export type OperatedPeriod = { plan: string; first: string; last: string | null }

export type OperatedAccount = {
  id: number
  email: string
  role: string
  plan: string
  plan_in_force: string
  periods: OperatedPeriod[]
  addons: string[]
  created: string
  suspended: string | null
}

/** A card of an account. `reload` shows what a change made. */
export type AccountCardProps = { account: OperatedAccount; reload: () => Promise<void> }

export const PLAN_OPTIONS = [
  ['free', 'Free'],
  ['basic', 'Basic'],
  ['premium', 'Premium'],
  ['local', 'Local: no limits'],
] as const

export const ROLE_OPTIONS = [
  ['user', 'User'],
  ['admin', 'Operator'],
] as const

/** The path of an account in the operator's API. */
export function operatorPath({ id }: { id: number | string }): string {
  return `/admin/v1/accounts/${id}`
}
