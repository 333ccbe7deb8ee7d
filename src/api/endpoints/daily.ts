/** /daily: the domains that were registered on one day, as a file. */

import Type from 'typebox'
import { type DailyAccess, dailyAccess } from '../../accounts/daily.ts'
import { type Day, parseDay } from '../../words/time.ts'
import type { Endpoint } from '../endpoint.ts'
import { Refusal } from '../errors.ts'
import { type Parameters, readText } from '../parameters.ts'

/** Days after registration at which a follow-up file is made. */
const FOLLOWUPS = ['7', '30']

export const daily: Endpoint = {
  name: 'daily',
  summary: 'Domains registered on one day',
  description:
    'The gzipped list of the domains registered on a day, one name a line, or with `followup` the CSV file made 7 or 30 ' +
    'days later. Check the status before unpacking: only errors are JSON. The file of a day is written the following night, ' +
    'so a subscription begins with the file dated the day before its first day and ends with the one dated the day before ' +
    'its last.',
  envelope: 'top',
  parameters: Type.Object({
    date: Type.String({ format: 'date', description: 'The day of registration.', examples: ['2026-11-19'] }),
    followup: Type.Optional(
      Type.Integer({ enum: [7, 30], description: 'The follow-up file of that day. Premium only.' }),
    ),
  }),
  response: null,
  file: { type: 'application/gzip', description: 'The file.' },
  errors: [
    'plan_required',
    'date_missing',
    'date_format',
    'followup_invalid',
    'before_subscription',
    'after_subscription',
    'outside_subscription',
    'no_subscription',
    'premium_required',
    'no_data',
  ],
  admit({ account, today }) {
    if (dailyAccess(account, today, today).state === 'plan_required') throw new Refusal('plan_required')
  },
  async answer({ parameters, caller }) {
    const date = readDate(parameters)
    const followup = readText(parameters, 'followup', 'followup_invalid')
    if (followup !== null && !FOLLOWUPS.includes(followup)) throw new Refusal('followup_invalid')
    const access = dailyAccess(caller.account, date, caller.today)
    if (access.state !== 'allowed') throw new Refusal(access.state, { msg: wordsFor(access) })
    if (followup !== null && access.plan !== 'premium') throw new Refusal('premium_required')
    throw new Refusal('no_data', { msg: `There is no file for ${date}.` })
  },
}

function readDate(parameters: Parameters): Day {
  const text = readText(parameters, 'date', 'date_format')
  if (text === null) throw new Refusal('date_missing')
  const date = parseDay(text)
  if (date === null) throw new Refusal('date_format')
  return date
}

/** Names the days that are available. */
function wordsFor(access: Exclude<DailyAccess, { state: 'allowed' }>): string | undefined {
  switch (access.state) {
    case 'before_subscription':
      return `The earliest day available is ${access.earliest}.`
    case 'after_subscription':
      return `The last day available is ${access.latest}.`
    case 'outside_subscription':
      return `The date lies in a gap: days are available until ${access.latest} and again from ${access.earliest} on.`
    default:
      return undefined
  }
}
