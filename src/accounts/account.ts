/** The account: who may ask, under which plan, with which add-ons. */

import type { Instant } from '../words/time.ts'
import type { Period } from './period.ts'

export const PLANS = ['free', 'basic', 'premium'] as const
export type Plan = (typeof PLANS)[number]

export const ADDONS = ['export', 'enriched'] as const
export type Addon = (typeof ADDONS)[number]

export const ROLES = ['user', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** An account. `plan` is its base plan; periods are ascending and never overlap. */
export type Account = {
  id: number
  email: string
  role: Role
  plan: Plan
  periods: readonly Period[]
  addons: readonly Addon[]
  created: Instant
}

export type NewAccount = Omit<Account, 'id' | 'created'>
