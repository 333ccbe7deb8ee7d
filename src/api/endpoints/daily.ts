/** /daily: the domains that were registered on one day, as a file. */

import { type DailyAccess, dailyAccess } from '../../accounts/daily-access.ts'
import type { Period } from '../../accounts/period.ts'
import { type FileKind, fileName } from '../../jobs/file-store/file-store.ts'
import { type Day, parseDay } from '../../values/time.ts'
import type { Caller } from '../auth/authenticator.ts'
import { ApiError } from '../http/errors.ts'
import { type FileDownload, openPublished, type ReadableFileStore } from '../http/files/file-response.ts'
import { type Parameters, readTextParameter } from '../http/parameters.ts'
import type { Endpoint } from './endpoint.ts'
import { Type } from './schema.ts'

/** The kinds of follow-up files by the days between registration and probe. */
const FOLLOWUP_KINDS: ReadonlyMap<string, DailyKind> = new Map([
  ['7', 'followup-7'],
  ['30', 'followup-30'],
])

export type DailyKind = Extract<FileKind, 'daily' | 'dropped' | `followup-${string}`>

export function isFollowup(kind: FileKind): boolean {
  return kind.startsWith('followup-')
}

/** The errors of the date of a daily file. */
export const DATE_ERRORS = [
  'plan_required',
  'date_missing',
  'date_format',
  'before_subscription',
  'after_subscription',
  'outside_subscription',
  'no_subscription',
] as const

export const daily: Endpoint = {
  name: 'daily',
  summary: 'Domains registered on one day',
  description:
    'The gzipped list of the domains registered on a day, one name per line, or with `followup` the CSV file built 7 or 30 ' +
    'days later. Check the status before unpacking: only errors are JSON. The file of a day is built the following night. ' +
    'Therefore a subscription starts with the file dated the day before its first day, and ends with the one dated the ' +
    'day before its last day.',
  envelope: 'top',
  parameters: Type.Object({
    date: Type.String({ format: 'date', description: 'The day of registration.', examples: ['2026-11-19'] }),
    followup: Type.Optional(
      Type.Integer({ enum: [7, 30], description: 'The follow-up file of that day. Premium only.' }),
    ),
  }),
  response: null,
  file: { type: 'application/gzip', description: 'The file.' },
  errors: [...DATE_ERRORS, 'followup_invalid', 'premium_required', 'no_data'],
  authorize: authorizeDaily,
  handle: null,
  download: {
    isRequested: () => true,
    find(caller, fileStore, parameters) {
      const date = requireDate(parameters)
      const followup = readTextParameter(parameters, 'followup', 'followup_invalid')
      const kind = followup === null ? 'daily' : FOLLOWUP_KINDS.get(followup)
      if (kind === undefined) throw new ApiError('followup_invalid')
      return openDaily(caller, fileStore, kind, date)
    },
  },
}

/** Throws `plan_required` if the account neither has nor had a plan with /daily. */
export function authorizeDaily({ account, today }: Pick<Caller, 'account' | 'today'>): void {
  if (dailyAccess(account, today, today).state === 'plan_required') throw new ApiError('plan_required')
}

/** Opens the file of a day. Throws an ApiError if the periods do not include it, or if there is no file. */
export async function openDaily(
  caller: Caller,
  fileStore: ReadableFileStore,
  kind: DailyKind,
  date: Day,
): Promise<FileDownload> {
  const plan = requireDailyAccess(caller, date)
  if (isFollowup(kind) && plan !== 'premium')
    throw new ApiError('premium_required', {
      msg: `The period that includes ${date} has the plan Basic, and follow-up files need Premium: leave out "followup".`,
    })
  const name = fileName(kind, date)
  const opened = await openPublished(fileStore, name)
  if (opened === null)
    throw new ApiError('no_data', { msg: `There is no ${isFollowup(kind) ? 'follow-up file' : 'file'} for ${date}.` })
  const extended = isFollowup(kind) ? `; filename*=UTF-8''${name}` : ''
  const plain = isFollowup(kind) ? fileName('daily', date) : name
  return { file: opened, disposition: `attachment; filename="${plain}"${extended}` }
}

/** Returns the plan of the period that includes the file of a day. Throws an ApiError if the periods do not include it. */
export function requireDailyAccess({ account, today }: Pick<Caller, 'account' | 'today'>, date: Day): Period['plan'] {
  const access = dailyAccess(account, date, today)
  if (access.state !== 'allowed') throw new ApiError(access.state, { msg: dailyAccessMessage(access) })
  return access.plan
}

/** Throws `date_missing` and `date_format`. */
export function requireDate(parameters: Parameters): Day {
  const text = readTextParameter(parameters, 'date', 'date_format')
  if (text === null) throw new ApiError('date_missing')
  const date = parseDay(text)
  if (date === null) throw new ApiError('date_format')
  return date
}

/** The message with the days that are available. */
function dailyAccessMessage(access: Exclude<DailyAccess, { state: 'allowed' }>): string | undefined {
  switch (access.state) {
    case 'before_subscription':
      return `The date is before the first subscription period: the earliest available day is ${access.earliest}.`
    case 'after_subscription':
      return `The date is after the last subscription period: the last available day is ${access.latest}.`
    case 'outside_subscription':
      return `The date is in a gap between two periods: days until ${access.latest} and from ${access.earliest} are available.`
    default:
      return undefined
  }
}
