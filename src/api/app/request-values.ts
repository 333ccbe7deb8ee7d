/** Reads values from the requests of the web page. An error names the value in `field`. */

import { parseEmail } from '../../accounts/account.ts'
import { type Day, type Instant, parseDay, parseInstant, startOfDay } from '../../values/time.ts'
import { ApiError } from '../http/errors.ts'
import type { Parameters } from '../http/parameters.ts'

/** The error of a value. `field`: its name. */
export function valueError(field: string, msg: string): ApiError {
  return new ApiError('value_invalid', { msg, extra: { field } })
}

/** A day of the query string; null if it is absent. */
export function readDay(query: Parameters, field: string): Day | null {
  const text = query[field]
  if (text === undefined || text === '') return null
  const day = typeof text === 'string' ? parseDay(text) : null
  if (day === null) throw valueError(field, `"${field}" must be a day such as 2026-01-31.`)
  return day
}

/** An instant or a day (its first second) of a body; null if it is null or absent. */
export function readInstant(body: Parameters, field: string): Instant | null {
  const text = body[field]
  if (text === undefined || text === null || text === '') return null
  const day = typeof text === 'string' ? parseDay(text) : null
  const instant = day !== null ? startOfDay(day) : typeof text === 'string' ? parseInstant(text) : null
  if (instant === null) throw valueError(field, `"${field}" must be a day or an instant such as 2027-01-31T12:00:00Z.`)
  return instant
}

/** The stored form of the email address. An invalid one is as wrong as an unknown one. */
export function readEmail(body: Parameters): string {
  const email = parseEmail(readText(body, 'email'))
  if (email === null) throw valueError('email', 'This is not an email address.')
  return email
}

/** The longest text that is read: any password, email address or code is shorter. */
const MAX_TEXT_LENGTH = 1_024

/** A text of the body. Throws `value_invalid` if it is missing. */
export function readText(body: Parameters, field: string): string {
  const value = body[field]
  if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT_LENGTH)
    throw valueError(field, `"${field}" must be a text of at most ${MAX_TEXT_LENGTH} characters.`)
  return value
}
