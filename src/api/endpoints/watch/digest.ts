/** The digest of an account in requests and responses: its schemas, and how it is read and written. */

import { DIGEST_PERIODS, type Digest, type DigestPeriod } from '../../../store/port/watch/digests.ts'
import { utcText } from '../../../values/time.ts'
import type { Parameters } from '../../http/parameters.ts'
import { exactObject, nullable, Type, UtcInstantSchema } from '../schema.ts'
import { rejectValue } from './watches.ts'

const PERIODS = ['off', ...DIGEST_PERIODS] as const

const PeriodSchema = Type.String({ enum: [...PERIODS], description: 'How often mail comes, if there are events.' })
const DigestProperties = {
  period: PeriodSchema,
  email: Type.String({ description: 'Where the mail goes: the address of the account.' }),
  next: nullable(UtcInstantSchema, 'When the next mail is written, if there are events; null: never.'),
  last: nullable(UtcInstantSchema, 'When the last mail was sent; null: there was none.'),
}
export const DIGEST_FIELDS = Object.keys(DigestProperties)
export const DigestSchema = exactObject(DigestProperties)
export const NewDigestSchema = Type.Object({ period: PeriodSchema })

/** A digest as it is sent; null: the account gets none. */
export function digestBody(digest: Digest | null, email: string): object {
  if (digest === null) return { period: 'off', email, next: null, last: null }
  const { period, due, sent } = digest
  return { period, email, next: utcText(due), last: utcText(sent) }
}

/** Throws `value_invalid`. */
export function readDigestPeriod({ period }: Parameters): DigestPeriod | 'off' {
  if (!(PERIODS as readonly unknown[]).includes(period))
    rejectValue('period', `"period" must be one of ${PERIODS.join(', ')}.`)
  return period as DigestPeriod | 'off'
}
