/** The kinds of changes in the audit log. A test compares them with those of the server. */

export const AUDITED_CHANGES = [
  'account.create',
  'account.plan',
  'account.role',
  'account.suspend',
  'account.resume',
  'account.delete',
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
  'secret.create',
  'secret.rotate',
  'secret.give',
] as const
