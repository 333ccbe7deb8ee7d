/** What files with columns say of a name: website, mail, certificate, addresses and social accounts, as CSV (RFC 4180, LF). */

import type { CurrentFacts } from '../apply/crawl-state.ts'
import { LISTING_COLUMNS } from '../store/port/listing.ts'
import type { DomainName } from '../values/domain-name.ts'
import { decodeRecords } from '../values/stored-records.ts'

const FOLLOWUP_COLUMNS = [...LISTING_COLUMNS, 'social_networks', 'social_accounts']

export const FOLLOWUP_HEADER = `${FOLLOWUP_COLUMNS.join()}\n`

/**
 * The row of a name; fields are empty for what was never observed, but yes/no fields "no" and `ssl` "nocert", as in /lookup.
 * An MX whose server is the root says that there is no mail (RFC 7505, chapter 3), and so does the row.
 */
export function followupRow(name: DomainName, { ip, states, web }: CurrentFacts): string {
  const servers =
    states.MX === undefined
      ? []
      : decodeRecords('MX', states.MX.records).filter(({ mail_server }) => mail_server !== '.')
  const fields = [
    name,
    yesNoText(web?.has_website),
    yesNoText(web?.redirects_to),
    web?.redirects_to ?? '',
    yesNoText(servers.length),
    servers.map(({ mail_server }) => mail_server).join(' '),
    web?.ssl ?? 'nocert',
    ip ?? '',
    web?.social_networks.join(' ') ?? '',
    web?.social_accounts.map(({ url }) => url).join(' ') ?? '',
  ]
  return `${fields.map(quoteCsvField).join()}\n`
}

const yesNoText = (value: unknown): string => (value ? 'yes' : 'no')

/** RFC 4180, chapter 2: quotes around what has a comma, a quote or a line break, and quotes in it twice. */
function quoteCsvField(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
}
