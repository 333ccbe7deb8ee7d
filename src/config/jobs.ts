/** The settings of the nights: a part of the table of all settings. */

import type { QualityBounds } from '../jobs/quality-check.ts'
import { parseDuration, parseWholeNumber, type Setting } from './parse.ts'

export type JobSettings = {
  /** When a round begins: seconds after UTC midnight, rising. Null: this installation's server runs no nights. */
  jobTimes: readonly number[] | null
  /** Null: every day is handed out. */
  dailyBounds: Omit<QualityBounds, 'minDifference'> | null
  dailyFloor: number
  /** Seconds. */
  followupWait: number
}

export const JOB_SETTINGS: { readonly [Key in keyof JobSettings]: Setting<JobSettings[Key]> } = {
  jobTimes: {
    name: 'DOMAINDEX_JOB_TIMES',
    defaultText: '01:00',
    meaning:
      'When `serve` empties the inbox and builds what lacks: daily files, follow-ups, and at the first of the times the snapshots. What was missed is caught up.',
    allowed: 'times of the day in UTC, separated by commas, such as 01:00 or 01:00,13:00, or off',
    parse: (text) => (text === 'off' ? null : parseTimes(text)),
  },
  dailyBounds: {
    name: 'DOMAINDEX_DAILY_BOUNDS',
    defaultText: '0.2-5',
    meaning:
      'What the names of a day may be, in times of the median of the same weekday in the 8 weeks before. A daily file out of these bounds, and further from that median than DOMAINDEX_DAILY_MIN_DIFFERENCE, is held back until it is released. This begins once 14 earlier files exist.',
    allowed: 'two numbers, such as 0.2-5, or off',
    parse: (text) => (text === 'off' ? null : parseBounds(text)),
  },
  dailyFloor: {
    name: 'DOMAINDEX_DAILY_MIN_DIFFERENCE',
    defaultText: '500',
    meaning: 'The number of names by which a day may differ from that median in any case.',
    allowed: 'a whole number from 0 to 999999',
    parse: (text) => parseWholeNumber(text, 0, 999_999),
  },
  followupWait: {
    name: 'DOMAINDEX_FOLLOWUP_WAIT',
    defaultText: '12h',
    meaning:
      'How long a follow-up file waits for the crawler to visit its names, at most; then it is written from what is known.',
    allowed: 'a whole number of minutes, hours or days, 3650d at most, as 90m, 12h or 1d',
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
  const [, least, most] = /^(\d{1,4}(?:\.\d{1,4})?)-(\d{1,6}(?:\.\d{1,4})?)$/.exec(text) ?? []
  const bounds = { min: Number(least), max: Number(most) }
  return bounds.min < bounds.max ? bounds : undefined
}
