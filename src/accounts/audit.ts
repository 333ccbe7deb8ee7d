/** The types of the audit log: who changed which account, token or secret, and when. */

import type { Instant } from '../values/time.ts'

/**
 * Who makes a change. `user`: the user of the operating system or of the service. `origin`: where the change comes
 * from, such as a command.
 */
export type Actor = { user: string; origin: string }

/** The owner of an account as the actor of a change on the web page. */
export function webActor(email: string): Actor {
  return { user: email, origin: 'web' }
}

export const AUDIT_ACTIONS = [
  'account.create',
  'account.plan',
  'account.role',
  'account.suspend',
  'account.resume',
  'account.delete',
  'account.export',
  'account.password',
  'period.add',
  'period.remove',
  'addon.add',
  'addon.remove',
  'token.create',
  'token.revoke',
  'token.rotate',
  'operator_token.create',
  'operator_token.revoke',
  'daily.release',
  'names.forget',
  'secret.create',
  'secret.rotate',
  'secret.give',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** The details of a change, in plain JSON. They never contain a token, its hash or a secret. */
export type AuditDetails = Readonly<Record<string, unknown>>

/**
 * What was forgotten, in the audit log. `sha256`: of the names or the suffix that the command was given, which whoever
 * knows a name can compare; empty for the opt-out list. `names`: how many were known.
 */
export type ForgottenNames = {
  by: 'name' | 'suffix' | 'opt_out'
  sha256: readonly string[]
  names: number
  files: number
}

/**
 * One change. `account` and `email` are null for the secrets of the installation. The entries of a deleted account keep
 * its number, not its mail address.
 */
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

/**
 * Selects entries by mail address, by action and by time, from `from` (inclusive) to `to` (exclusive). Null: no
 * restriction.
 */
export type AuditFilter = {
  email: string | null
  action?: AuditAction | null
  from: Instant | null
  to: Instant | null
}
