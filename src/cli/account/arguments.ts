/** Parses the arguments of the account commands. An invalid argument ends the command with the allowed values. */

import { InvalidArgumentError } from 'commander'
import { ADDONS, type Addon, parseEmail } from '../../accounts/account.ts'
import { type Period, parsePeriod } from '../../accounts/period.ts'
import { MAX_TOKEN_NAME_LENGTH, parseTokenName } from '../../accounts/token.ts'
import { type Instant, parseDay, parseInstant, startOfDay } from '../../values/time.ts'

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
