/** The audit log: who changed accounts, tokens and secrets, when, and what. */

import type { Instant } from '../values/time.ts'

/** Who makes a change. `user`: the user of the operating system, or of the service. `origin`: the way in, such as a command. */
export type Actor = { user: string; origin: string }

export const AUDIT_ACTIONS = [
  'account.create',
  'account.plan',
  'account.role',
  'account.suspend',
  'account.resume',
  'account.delete',
  'period.add',
  'period.remove',
  'addon.add',
  'addon.remove',
  'token.create',
  'token.revoke',
  'secret.create',
  'secret.rotate',
  'secret.give',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** What a change was about, in plain JSON. It never holds a token, its hash or a secret. */
export type AuditDetails = Readonly<Record<string, unknown>>

/** One change. `account` and `email` are null for the installation's secrets; a deleted account's entries keep its address. */
export type AuditEntry = {
  id: number
  time: Instant
  actor: string
  origin: string
  action: AuditAction
  account: number | null
  email: string | null
  details: AuditDetails
}

/** Which entries: of one account by its address, from an instant (inclusive) to another (exclusive); null for all. */
export type AuditFilter = { email: string | null; from: Instant | null; to: Instant | null }
