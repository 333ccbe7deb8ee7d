/** The parameters that name a moment: a day, or a date and time. */

import {
  type Instant,
  parseDay,
  parseFormattedInstant,
  parseInstant,
  SECONDS_PER_DAY,
  startOfDay,
} from '../../../values/time.ts'
import { ApiError } from '../../http/errors.ts'
import { type Parameters, readTextParameter } from '../../http/parameters.ts'
import { type JsonSchema, Type } from '../schema.ts'

const EXAMPLES = ['2026-03-01', '2026-03-01T12:00:00Z']

/** `meaning`: one sentence. */
export function momentParameter(meaning: string, dayMeans = 'its last second'): JsonSchema {
  const form = `A day (${dayMeans}, UTC) or an RFC 3339 date and time, not in the future.`
  return Type.Optional(Type.String({ description: `${meaning} ${form}`, examples: EXAMPLES }))
}

/**
 * The moment in a parameter; null if it is missing. A day means its first second (`start`) or its last (`end`). Throws
 * `date_format` for any other text, and for a moment after `now`. The day of `now` is none, although its end is later.
 */
export function readMoment(parameters: Parameters, name: string, edge: 'start' | 'end', now: Instant): Instant | null {
  const text = readTextParameter(parameters, name, 'date_format')
  if (text === null) return null
  const day = parseDay(text)
  const start = day === null ? (parseInstant(text) ?? parseFormattedInstant(text)) : startOfDay(day)
  if (start === null || start < 0) {
    const msg = `The parameter "${name}" must be a valid day such as 2026-03-01 or a time such as 2026-03-01T12:00:00Z.`
    throw new ApiError('date_format', { msg })
  }
  if (start > now) throw new ApiError('date_format', { msg: `The parameter "${name}" is in the future.` })
  return day !== null && edge === 'end' ? start + SECONDS_PER_DAY - 1 : start
}
