/** The types of an account: its role, plan, add-ons and periods. */

import { parseName } from '../values/domain-name.ts'
import type { Instant } from '../values/time.ts'
import type { Period } from './period.ts'

/** Plans from the lowest to the highest. `local` is for the owner of the machine and has no limits. */
export const PLANS = ['free', 'basic', 'premium', 'local'] as const
export type Plan = (typeof PLANS)[number]

export const ADDONS = ['export', 'enriched'] as const
export type Addon = (typeof ADDONS)[number]

export const ROLES = ['user', 'admin'] as const
export type Role = (typeof ROLES)[number]

/**
 * An account. `role`: `admin` may use the pages and paths of operators. `plan` is its base plan. Its
 * periods are ascending and never overlap. `suspended` is the time of the suspension; null if the account is active.
 */
export type Account = {
  id: number
  email: string
  role: Role
  plan: Plan
  periods: readonly Period[]
  addons: readonly Addon[]
  created: Instant
  suspended: Instant | null
}

export type NewAccount = Omit<Account, 'id' | 'created' | 'suspended'>

const LOCAL_PART = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/ // RFC 5322, section 3.2.3: dot-atom
const MAX_LOCAL_PART_LENGTH = 64 // RFC 5321, section 4.5.3.1.1
const MAX_EMAIL_LENGTH = 254 // RFC 5321, section 4.5.3.1.3: a path of 256 with its angle brackets

/** The stored form of a mail address: lower case, the domain as A-labels. Null if the text is not a mail address. */
export function parseEmail(text: string): string | null {
  const trimmed = text.trim()
  const at = trimmed.lastIndexOf('@')
  const local = trimmed.slice(0, Math.max(at, 0)).toLowerCase()
  const domain = parseName(trimmed.slice(at + 1))
  if (domain === null || local.length > MAX_LOCAL_PART_LENGTH || !LOCAL_PART.test(local)) return null
  const email = `${local}@${domain}`
  return email.length <= MAX_EMAIL_LENGTH ? email : null
}
