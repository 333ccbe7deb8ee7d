/** The arguments of the account commands, and how accounts and tokens are printed: as text, and as JSON. */

import { styleText } from 'node:util'
import { InvalidArgumentError } from 'commander'
import { type Account, ADDONS, type Addon, parseEmail } from '../../accounts/account.ts'
import { formatPeriod, type Period, parsePeriod } from '../../accounts/period.ts'
import { planInForce } from '../../accounts/plan.ts'
import { isActive, MAX_TOKEN_NAME_LENGTH, parseTokenName, type Token } from '../../accounts/token.ts'
import { dayOf, formatInstant, type Instant, parseDay, parseInstant, startOfDay } from '../../values/time.ts'
import { alignedColumns } from '../program/output.ts'

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

/** Parses the arguments of the account commands. An invalid argument ends the command with the allowed values. */
export function parseEmailArgument(text: string): string {
  const email = parseEmail(text)
  if (email === null) throw new InvalidArgumentError('It must be an email address such as ann@example.com.')
  return email
}

export function parsePeriodArgument(text: string): Period {
  const period = parsePeriod(text)
  if (period !== null) return period
  throw new InvalidArgumentError(
    'A period is PLAN:FIRST..LAST or PLAN:FIRST.. with the plan basic or premium and days such as 2026-01-31. ' +
      'The last day must not be before the first.',
  )
}

export function parseAddonArgument(text: string): Addon {
  const addon = ADDONS.find((each) => each === text)
  if (addon === undefined) throw new InvalidArgumentError(`Allowed choices are ${ADDONS.join(', ')}.`)
  return addon
}

export function parseTokenNameArgument(text: string): string {
  const name = parseTokenName(text)
  if (name !== null) return name
  throw new InvalidArgumentError(`A name has 1 to ${MAX_TOKEN_NAME_LENGTH} characters and no control characters.`)
}

/** Parses an instant, or a day as its first second. */
export function parseInstantArgument(text: string): Instant {
  const day = parseDay(text)
  const instant = day === null ? parseInstant(text) : startOfDay(day)
  if (instant !== null) return instant
  throw new InvalidArgumentError('It must be a day or an instant such as 2027-01-31 or 2027-01-31T12:00:00Z.')
}
