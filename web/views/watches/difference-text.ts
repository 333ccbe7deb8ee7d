/** The differences of an event as a line of text. */

import { formatCount } from '../../parts/numbers.ts'
import type { DnsRecord, RecordType } from '../explorer/data/responses.ts'
import { recordText } from '../explorer/history/history-data.ts'
import type { Difference } from './watches.ts'

/** Records of a difference that are named; the others are counted. */
const MAX_RECORDS = 3

export function differenceText(difference: Difference): string {
  switch (difference.type) {
    case 'new':
      return 'new name'
    case 'status':
      return difference.after === 'nxdomain' ? 'does not exist any more' : 'exists now'
    case 'records':
      return recordsText(difference.record_type, difference.added, difference.removed)
    case 'website':
      return `website: ${Object.entries(difference.after).map(flagText).join(', ')}`
    case 'redirect':
      return difference.after === null ? `no redirect to ${difference.before}` : `redirects to ${difference.after}`
    case 'certificate':
      return certificateText(difference)
    case 'text':
      return `${difference.percent} % of the words of its start page differ`
    case 'limit':
      return `${formatCount(difference.events)} events today: further ones of this day are left out`
  }
}

function recordsText(type: RecordType, added: readonly DnsRecord[], removed: readonly DnsRecord[]): string {
  const parts = [
    ['+', added],
    ['−', removed],
  ] as const
  const texts = parts.flatMap(([sign, records]) => {
    const named = records.slice(0, MAX_RECORDS).map((record) => `${sign} ${recordText(type, record)}`)
    const rest = records.length - named.length
    return rest > 0 ? [...named, `${sign} ${rest} more`] : named
  })
  return `${type} ${texts.join(', ')}`
}

/** A field of the verdict on a website. */
function flagText([field, value]: [string, unknown]): string {
  const text = field.replaceAll('_', ' ')
  return typeof value === 'boolean' ? `${text} ${value ? 'yes' : 'no'}` : `${text} ${value}`
}

function certificateText({ after, logged_at }: Extract<Difference, { type: 'certificate' }>): string {
  if (after === null) return 'no certificate any more'
  const from = logged_at === undefined ? 'certificate' : 'certificate in a log'
  return `${from} of ${after.issuer}, ${after.name_count === 1 ? '1 name' : `${formatCount(after.name_count)} names`}`
}
