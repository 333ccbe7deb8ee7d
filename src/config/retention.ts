/** The settings of how long data is kept. */

import type { Retention } from '../jobs/prune.ts'
import { RECORD_TYPES } from '../values/records/dns-record.ts'
import { FURTHER_STATE_TYPES, type StateType } from '../values/state-type.ts'
import { SECONDS_PER_DAY } from '../values/time.ts'
import type { Setting } from './parse.ts'

/** In seconds. Null: for ever. */
export type RetentionSettings = {
  keepHistory: Retention['history']
  keepFiles: number | null
  keepInbox: number | null
  keepUsage: number | null
  keepAudit: number | null
}

const DAYS_PER_UNIT: Readonly<Record<string, number>> = { d: 1, y: 365 }
/** The quality check and the follow-up files read earlier days. */
const MIN_FILE_DAYS = 90
/** The usage of a month is shown and exported. */
const MIN_USAGE_DAYS = 31

const ageText = (minDays: number): string =>
  `a whole number of days or years, at least ${minDays}d, such as 400d or 2y, or forever`

export const RETENTION_SETTINGS: { readonly [Key in keyof RetentionSettings]: Setting<RetentionSettings[Key]> } = {
  keepHistory: {
    name: 'DOMAINDEX_KEEP_HISTORY',
    defaultText: 'forever',
    meaning:
      'How long the store keeps states of DNS records, websites and certificates that others have replaced. An age ' +
      'alone applies to all types that have none. The newest state of each type always stays.',
    allowed:
      'ages of at least 1d such as 90d or 2y, or forever, alone or after a type and a colon, separated by commas, ' +
      `such as 5y,SOA:90d,TXT:forever; the types are ${[...stateTypeNames().keys()].join(', ')}`,
    parse: parseHistoryAges,
  },
  keepFiles: {
    name: 'DOMAINDEX_KEEP_FILES',
    defaultText: 'forever',
    meaning:
      'How long the daily files, the files of dropped names and the follow-up files of a day are kept, and with them ' +
      'what zones and lists say of that day.',
    allowed: ageText(MIN_FILE_DAYS),
    parse: (text) => parseAge(text, MIN_FILE_DAYS),
  },
  keepInbox: {
    name: 'DOMAINDEX_KEEP_INBOX',
    defaultText: '30d',
    meaning: 'How long the inbox keeps the files that it imported (`done/`) or refused (`failed/`).',
    allowed: ageText(1),
    parse: (text) => parseAge(text, 1),
  },
  keepUsage: {
    name: 'DOMAINDEX_KEEP_USAGE',
    defaultText: '2y',
    meaning: 'How long the calls of each token, endpoint and day are kept, also those of deleted accounts.',
    allowed: ageText(MIN_USAGE_DAYS),
    parse: (text) => parseAge(text, MIN_USAGE_DAYS),
  },
  keepAudit: {
    name: 'DOMAINDEX_KEEP_AUDIT',
    defaultText: '2y',
    meaning: 'How long the entries of the audit log are kept.',
    allowed: ageText(1),
    parse: (text) => parseAge(text, 1),
  },
}

/** Seconds; null for `forever`. Undefined for another text. */
function parseAge(text: string, minDays: number): number | null | undefined {
  if (text === 'forever') return null
  const [, digits = '', unit = ''] = /^([1-9]\d{0,4})([dy])$/.exec(text) ?? []
  const days = Number(digits) * (DAYS_PER_UNIT[unit] ?? Number.NaN)
  return days >= minDays ? days * SECONDS_PER_DAY : undefined
}

function parseHistoryAges(text: string): Retention['history'] | undefined {
  const types = stateTypeNames()
  const ages = new Map<StateType | 'others', number | null>()
  for (const item of text.split(',')) {
    const [, name, ageText = ''] = /^(?:([A-Z]+):)?(\w+)$/.exec(item.trim()) ?? []
    const type = name === undefined ? 'others' : types.get(name)
    const age = parseAge(ageText, 1)
    if (type === undefined || age === undefined || ages.has(type)) return undefined
    ages.set(type, age)
  }
  const kept = [...types.values()].map((type) => [type, ages.has(type) ? ages.get(type) : ages.get('others')] as const)
  return Object.fromEntries(kept.filter(([, age]) => age != null))
}

/** The types by the names that the setting uses. */
function stateTypeNames(): Map<string, StateType> {
  return new Map([...RECORD_TYPES, ...FURTHER_STATE_TYPES].map((type) => [type.toUpperCase(), type]))
}
