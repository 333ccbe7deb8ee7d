/** The CSV row of a name: website, mail, certificate, addresses and social accounts (RFC 4180, with LF). */

import type { CurrentFacts } from '../apply/crawl-state.ts'
import { LISTING_COLUMNS } from '../store/port/listing.ts'
import type { DomainName } from '../values/domain-name.ts'
import { decodeRecords } from '../values/stored-records.ts'

const FOLLOWUP_COLUMNS = [...LISTING_COLUMNS, 'social_networks', 'social_accounts']

export const FOLLOWUP_HEADER = `${FOLLOWUP_COLUMNS.join()}\n`

/**
 * Returns the row of a name. Fields that were never observed are empty, but yes/no fields are "no" and `ssl` is
 * "nocert",
 * as in /lookup. A null MX, whose server is the root, means that there is no mail (RFC 7505, chapter 3).
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

/** Quotes a field that has a comma, a quote or a line break, and doubles its quotes (RFC 4180, chapter 2). */
function quoteCsvField(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
}
