/** Formats accounts and tokens: as lines of text, and as JSON with instants in RFC 3339. */

import { styleText } from 'node:util'
import type { Account } from '../../accounts/account.ts'
import { formatPeriod } from '../../accounts/period.ts'
import { planInForce } from '../../accounts/plan.ts'
import { isActive, type Token } from '../../accounts/token.ts'
import { dayOf, formatInstant, type Instant } from '../../values/time.ts'

export const zoned = (instant: Instant): string => `${formatInstant(instant)}Z`

const zonedOrNull = (instant: Instant | null): string | null => (instant === null ? null : zoned(instant))

export function accountObject(account: Account, now: Instant) {
  return {
    ...account,
    created: zoned(account.created),
    suspended: zonedOrNull(account.suspended),
    plan_in_force: planInForce(account, dayOf(now)),
  }
}

export function accountLines(account: Account, now: Instant): string[] {
  const inForce = planInForce(account, dayOf(now))
  const periods = account.periods.map(formatPeriod)
  return [
    styleText('bold', account.email),
    `  plan     ${account.plan}${inForce === account.plan ? '' : `, in force ${inForce}`}`,
    `  periods  ${periods.join('\n           ') || 'none'}`,
    `  add-ons  ${account.addons.join(', ') || 'none'}`,
    `  role     ${account.role}`,
    `  created  ${zoned(account.created)}`,
    ...(account.suspended === null ? [] : [`  suspended since ${zoned(account.suspended)}`]),
  ]
}

export function tokenObject(token: Token, now: Instant) {
  const { id, name, hint, created, expires, last_used, revoked } = token
  return {
    id,
    name,
    hint,
    active: isActive(token, now),
    created: zoned(created),
    expires: zonedOrNull(expires),
    last_used: zonedOrNull(last_used),
    revoked: zonedOrNull(revoked),
  }
}

export function tokenLines(tokens: readonly Token[], now: Instant): string[] {
  if (tokens.length === 0) return ['no tokens']
  const rows = tokens.map((token) => [
    String(token.id),
    `${token.hint}…`,
    token.name,
    tokenState(token, now),
    lastUsedText(token),
  ])
  return alignedColumns([['ID', 'TOKEN', 'NAME', 'STATE', 'LAST USED'], ...rows])
}

function tokenState({ revoked, expires }: Token, now: Instant): string {
  if (revoked !== null) return `revoked ${zoned(revoked)}`
  if (expires === null) return 'active'
  return now < expires ? `active until ${zoned(expires)}` : `expired ${zoned(expires)}`
}

const lastUsedText = ({ last_used }: Token): string => zonedOrNull(last_used) ?? 'never'

/** The lines that show a new token. Later its text cannot be shown again. */
export function newTokenLines(token: string): string[] {
  return [
    `  token    ${token}`,
    styleText('dim', '           save it now: it cannot be shown again, because the store keeps only its digest'),
  ]
}

/** Aligns rows of cells in columns. The first row has the headings. */
export function alignedColumns(rows: readonly string[][]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  )
}
