/** The parameters that name a moment or a time: days, or dates and times. */

import type { TimeQuestion } from '../../../export/span-page.ts'
import type { FactsReader } from '../../../store/port/store.ts'
import type { StateType } from '../../../values/state-type.ts'
import {
  formatInstant,
  type Instant,
  parseDay,
  parseFormattedInstant,
  parseInstant,
  SECONDS_PER_DAY,
  startOfDay,
} from '../../../values/time.ts'
import { ApiError } from '../../http/errors.ts'
import { type Parameters, readTextParameter } from '../../http/parameters.ts'
import { type JsonSchema, nullable, Type, UtcInstantSchema } from '../schema.ts'

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

export const TIME_PARAMETERS = ['at', 'from', 'to'] as const

export const TimeMetaSchemas = {
  at: nullable(UtcInstantSchema, 'The moment; null without `at`.'),
  from: nullable(UtcInstantSchema, 'The start of the time; null without `from`.'),
  to: nullable(UtcInstantSchema, 'The end of the time; null without `to`.'),
  removed_before: nullable(
    UtcInstantSchema,
    'The operator keeps history for a limited time: rows from before this moment may be missing, or begin later than they did. Null if nothing was removed, or if the time asked for begins later.',
  ),
}

/** A moment or a time that is asked for; all are null if there is neither. */
export type Time = Record<(typeof TIME_PARAMETERS)[number], Instant | null>

/** Throws `date_format`, also if the times exclude each other. */
export function readTime(parameters: Parameters, now: Instant): Time {
  const at = readMoment(parameters, 'at', 'end', now)
  const from = readMoment(parameters, 'from', 'start', now)
  const to = readMoment(parameters, 'to', 'end', now)
  if (at !== null && (from !== null || to !== null))
    throw new ApiError('date_format', { msg: 'Send either "at", or "from" and "to".' })
  if (from !== null && to !== null && from > to)
    throw new ApiError('date_format', { msg: 'The time in "from" is after the one in "to".' })
  return { at, from, to }
}

export function timeQuestion({ at, from, to }: Time): TimeQuestion {
  return at === null ? { from, to } : { at }
}

/** The members of `meta` that repeat the time, and `removed_before`. */
export function timeJson(time: Time, removedBefore: Instant | null): string {
  const times = TIME_PARAMETERS.map((name) => `"${name}":${instantJson(time[name])}`)
  return [...times, `"removed_before":${instantJson(removedBefore)}`].join()
}

/** The moment before which states of a type were removed; null if the time does not reach back before it. */
export async function readRemovedBefore(
  facts: Pick<FactsReader, 'prunedUntil'>,
  type: StateType,
  { at, from }: Time,
): Promise<Instant | null> {
  const cutoff = (await facts.prunedUntil())[type] ?? null
  return cutoff !== null && (at ?? from ?? 0) < cutoff ? cutoff : null
}

/** What a message adds if nothing is on record for a time. */
export function removedText(removedBefore: Instant | null): string {
  return removedBefore === null ? '' : ` The operator has removed history from before ${formatInstant(removedBefore)}Z.`
}

export function instantJson(instant: Instant | null): string {
  return instant === null ? 'null' : `"${formatInstant(instant)}Z"`
}
