/** The settings of the nights: a part of the table of all settings. */

import { readSpan, readWhole, type Setting } from './config-read.ts'
import type { Bounds } from './nightly/gate.ts'

export type NightSettings = {
  /** When a round begins: seconds after UTC midnight, rising. Null: this installation's server runs no nights. */
  night: readonly number[] | null
  /** Null: every day is handed out. */
  dailyBounds: Omit<Bounds, 'floor'> | null
  dailyFloor: number
  /** Seconds. */
  followupWait: number
}

export const NIGHT_SETTINGS: { readonly [Key in keyof NightSettings]: Setting<NightSettings[Key]> } = {
  night: {
    name: 'DOMAINDEX_NIGHT',
    fallback: '01:00',
    meaning:
      'When `serve` empties the inbox and builds what lacks: daily files, follow-ups, and at the first of the times the snapshots. What was missed is caught up.',
    may: 'times of the day in UTC, separated by commas, such as 01:00 or 01:00,13:00, or off',
    read: (text) => (text === 'off' ? null : readTimes(text)),
  },
  dailyBounds: {
    name: 'DOMAINDEX_DAILY_BOUNDS',
    fallback: '0.2-5',
    meaning:
      'What the names of a day may be, in times of the median of the same weekday in the 8 weeks before. A daily file out of these bounds, and further from that median than DOMAINDEX_DAILY_FLOOR, is held back until it is released. This begins once 14 earlier files exist.',
    may: 'two numbers, such as 0.2-5, or off',
    read: (text) => (text === 'off' ? null : readBounds(text)),
  },
  dailyFloor: {
    name: 'DOMAINDEX_DAILY_FLOOR',
    fallback: '500',
    meaning: 'The number of names by which a day may differ from that median in any case.',
    may: 'a whole number from 0 to 999999',
    read: (text) => readWhole(text, 0, 999_999),
  },
  followupWait: {
    name: 'DOMAINDEX_FOLLOWUP_WAIT',
    fallback: '12h',
    meaning:
      'How long a follow-up file waits for the crawler to visit its names, at most; then it is written from what is known.',
    may: 'a whole number of minutes, hours or days, 3650d at most, as 90m, 12h or 1d',
    read: readSpan,
  },
}

function readTimes(text: string): number[] | undefined {
  const times = text.split(',').map((part) => /^([01]\d|2[0-3]):([0-5]\d)$/.exec(part.trim()))
  if (!times.every((time) => time !== null)) return undefined
  const seconds = times.map(([, hour, minute]) => Number(hour) * 3600 + Number(minute) * 60)
  return [...new Set(seconds)].sort((a, b) => a - b)
}

function readBounds(text: string): Omit<Bounds, 'floor'> | undefined {
  const [, least, most] = /^(\d{1,4}(?:\.\d{1,4})?)-(\d{1,6}(?:\.\d{1,4})?)$/.exec(text) ?? []
  const bounds = { least: Number(least), most: Number(most) }
  return bounds.least < bounds.most ? bounds : undefined
}
