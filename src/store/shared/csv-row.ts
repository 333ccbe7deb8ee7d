/** The CSV row of a name (RFC 4180): one table of its columns, as values of the facts and as SQL of the engines. */

import type { CurrentFacts } from '../../apply/crawl-state.ts'
import type { DomainName } from '../../values/domain-name.ts'
import { decodeRecords } from '../../values/records/stored-records.ts'
import { FACTS_FLAG } from './columns.ts'

/** One column, or two whose values depend on each other. */
type CsvColumns = {
  names: readonly string[]
  /** The values of the columns, not quoted. */
  values(facts: CurrentFacts): readonly string[]
  /**
   * The same as an SQL expression of both engines: fields of a row `f` of `facts`, quoted if needed, joined by commas.
   * Every column of `f` is null if the name has no facts. `mailFields`: the expression for the mail servers of `f`.
   */
  sql(mailFields: string): string
}

/**
 * The columns after the domain. Fields that were never observed are empty, but yes/no fields are "no" and `ssl` is
 * "nocert", as in /lookup. A null MX, whose server is the root, means that there is no mail (RFC 7505, section 3).
 */
const FACTS_COLUMNS: readonly CsvColumns[] = [
  {
    names: ['has_website'],
    values: ({ web }) => [web?.has_website ? 'yes' : 'no'],
    sql: () => `case when coalesce(f.flags, 0) & ${FACTS_FLAG.has_website} <> 0 then 'yes' else 'no' end`,
  },
  {
    names: ['redirect_to_domain', 'redirect_target'],
    values: ({ web }) => optionalFields(web?.redirects_to ?? ''),
    sql: () => optionalFieldsSql('f.redirects_to'),
  },
  {
    names: ['mx', 'mail_servers'],
    values: (facts) => optionalFields(mailServersOf(facts).join(' ')),
    sql: (mailFields) => mailFields,
  },
  { names: ['ssl'], values: ({ web }) => [web?.ssl ?? 'nocert'], sql: () => `coalesce(f.ssl, 'nocert')` },
  { names: ['ip'], values: ({ ip }) => [ip ?? ''], sql: () => `coalesce(f.ip, '')` },
]

/** The columns of a line of the listing, in this order. */
export const LISTING_COLUMNS: readonly string[] = ['domain', ...FACTS_COLUMNS.flatMap(({ names }) => names)]

/** The values of LISTING_COLUMNS, not quoted. */
export function listingFields(name: DomainName, facts: CurrentFacts): string[] {
  return [name, ...FACTS_COLUMNS.flatMap(({ values }) => values(facts))]
}

/**
 * An SQL expression for the fields of LISTING_COLUMNS after the domain, with a leading comma, from a row `f` of
 * `facts`. Every column of `f` is null if the name has no facts. `mailFields`: the expression for the fields of the mail
 * servers. Only they can contain characters that need quotes.
 */
export function factsFieldsSql(mailFields: string): string {
  return FACTS_COLUMNS.map(({ sql }) => `',' || ${sql(mailFields)}`).join(' || ')
}

/** The fields of mail servers as an SQL expression. `mailServers`: a query with a column `server`. */
export function mailFieldsSql(mailServers: string): string {
  return optionalFieldsSql(
    `(select ${quoteCsvFieldSql('servers')} from
      (select string_agg(server, ' ') as servers from (${mailServers}) as m where server <> '.') as joined)`,
  )
}

/** The same fields as text. */
export function mailFields(servers: readonly string[]): string {
  return formatCsvRow(optionalFields(servers.filter((server) => server !== '.').join(' ')))
}

/** Joins fields to a row without a line feed. */
export function formatCsvRow(fields: readonly string[]): string {
  return fields.map(quoteCsvField).join()
}

/** Quotes a field that has a comma, a quote or a line break, and doubles its quotes (RFC 4180, section 2). */
function quoteCsvField(field: string): string {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
}

/** The same in SQL. A host name has no line break. */
function quoteCsvFieldSql(field: string): string {
  return `case when ${field} like '%,%' or ${field} like '%"%' then '"' || replace(${field}, '"', '""') || '"' else ${field} end`
}

/** "yes" and the field, or "no" and an empty field. */
function optionalFields(field: string): [string, string] {
  return [field === '' ? 'no' : 'yes', field]
}

function optionalFieldsSql(field: string): string {
  return `coalesce('yes,' || ${field}, 'no,')`
}

function mailServersOf({ states: { MX } }: CurrentFacts): string[] {
  if (MX === undefined) return []
  return decodeRecords('MX', MX.records)
    .map(({ mail_server }) => mail_server)
    .filter((server) => server !== '.')
}
