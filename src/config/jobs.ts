/** The settings of scheduled jobs. */

import type { QualityBounds } from '../jobs/quality-check.ts'
import { parseDuration, parseWholeNumber, type Setting } from './parse.ts'

export type JobSettings = {
  /** The times at which jobs start: seconds after UTC midnight, ascending. Null: `serve` runs no jobs. */
  jobTimes: readonly number[] | null
  /** Null: no quality check. */
  dailyBounds: Omit<QualityBounds, 'minDifference'> | null
  dailyMinDifference: number
  /** Seconds. */
  followupWait: number
}

export const JOB_SETTINGS: { readonly [Key in keyof JobSettings]: Setting<JobSettings[Key]> } = {
  jobTimes: {
    name: 'DOMAINDEX_JOB_TIMES',
    defaultText: '01:00',
    meaning:
      'When `serve` imports the inbox and builds missing files: daily files, follow-up files and, at the first ' +
      'of the times, snapshots. Missed jobs run at the next start.',
    allowed: 'times of day in UTC, separated by commas, such as 01:00 or 01:00,13:00, or off',
    parse: (text) => (text === 'off' ? null : parseTimes(text)),
  },
  dailyBounds: {
    name: 'DOMAINDEX_DAILY_BOUNDS',
    defaultText: '0.2-5',
    meaning:
      'The bounds for the number of names of a day, as factors of the median of the same weekday in the ' +
      'previous 8 weeks. ' +
      'A daily file is held until it is released if it is outside these bounds and differs from the median by ' +
      'more than DOMAINDEX_DAILY_MIN_DIFFERENCE. The check starts when 14 earlier files exist.',
    allowed: 'two numbers, such as 0.2-5, or off',
    parse: (text) => (text === 'off' ? null : parseBounds(text)),
  },
  dailyMinDifference: {
    name: 'DOMAINDEX_DAILY_MIN_DIFFERENCE',
    defaultText: '500',
    meaning: 'A day is never held if it differs from that median by at most this number of names.',
    allowed: 'a whole number from 0 to 999999',
    parse: (text) => parseWholeNumber(text, 0, 999_999),
  },
  followupWait: {
    name: 'DOMAINDEX_FOLLOWUP_WAIT',
    defaultText: '12h',
    meaning:
      'The maximum time that a follow-up file waits for the crawler to probe its names. ' +
      'After that it is written from the stored facts.',
    allowed: 'a whole number of minutes, hours or days (3650d at most), such as 90m, 12h or 1d',
    parse: parseDuration,
  },
}

function parseTimes(text: string): number[] | undefined {
  const times = text.split(',').map((part) => /^([01]\d|2[0-3]):([0-5]\d)$/.exec(part.trim()))
  if (!times.every((time) => time !== null)) return undefined
  const seconds = times.map(([, hour, minute]) => Number(hour) * 3600 + Number(minute) * 60)
  return [...new Set(seconds)].sort((a, b) => a - b)
}

function parseBounds(text: string): Omit<QualityBounds, 'minDifference'> | undefined {
  const [, min, max] = /^(\d{1,4}(?:\.\d{1,4})?)-(\d{1,6}(?:\.\d{1,4})?)$/.exec(text) ?? []
  const bounds = { min: Number(min), max: Number(max) }
  return bounds.min < bounds.max ? bounds : undefined
}
