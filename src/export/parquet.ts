/** Writes the current facts of all names as a Parquet file, one row per name. */

import { fileWriter, type ParquetWriteOptions, parquetWriteRows } from 'hyparquet-writer'
import { NO_WEBSITE } from '../apply/crawl-state.ts'
import { CLOCK_INDEX } from '../apply/stored-numbers.ts'
import { RECORD_TYPES } from '../values/records/dns-record.ts'
import { formatPresentation } from '../values/records/presentation.ts'
import type { Instant } from '../values/time.ts'
import type { NameHistory } from './name-history.ts'

type SchemaElement = NonNullable<ParquetWriteOptions['schema']>[number]
type Column = { name: string; kind: 'text' | 'flag' | 'time' | 'texts' }

/** The columns. Null: it was never observed, or there is none. */
export const PARQUET_COLUMNS: readonly Column[] = [
  { name: 'domain', kind: 'text' },
  { name: 'has_website', kind: 'flag' },
  { name: 'redirect_to_https', kind: 'flag' },
  { name: 'redirect_to_www', kind: 'flag' },
  { name: 'redirect_target', kind: 'text' },
  { name: 'only_with_www', kind: 'flag' },
  { name: 'only_dns_no_web', kind: 'flag' },
  { name: 'ssl', kind: 'text' },
  { name: 'ip', kind: 'text' },
  { name: 'social_networks', kind: 'texts' },
  { name: 'social_accounts', kind: 'texts' },
  ...RECORD_TYPES.map((type): Column => ({ name: type.toLowerCase(), kind: 'texts' })),
  { name: 'dns_observed', kind: 'time' },
  { name: 'web_observed', kind: 'time' },
]

/** Rows of a row group. A reader skips groups by the first and the last name, so they must not be too large. */
const ROWS_PER_GROUP = 20_000

/** Writes a file. The names come in byte order. */
export async function writeParquet(path: string, histories: AsyncIterable<readonly NameHistory[]>): Promise<void> {
  const writer = fileWriter(path)
  await parquetWriteRows({
    writer,
    rows: rowsOf(histories),
    columns: PARQUET_COLUMNS.map(({ name }) => ({ name, columnIndex: name === 'domain' })),
    schema: parquetSchema(),
    rowGroupSize: ROWS_PER_GROUP,
    statisticsTruncateLength: Number.POSITIVE_INFINITY,
    createdBy: 'domaindex',
  })
}

async function* rowsOf(histories: AsyncIterable<readonly NameHistory[]>) {
  for await (const batch of histories) for (const history of batch) yield rowOf(history)
}

function rowOf({ name, clocks, facts, states }: NameHistory): Record<string, unknown> {
  const web = facts.web ?? NO_WEBSITE
  const records = RECORD_TYPES.map((type) => {
    const [newest] = states[type]
    return [type.toLowerCase(), newest?.records.map((record) => formatPresentation(type, record)) ?? null]
  })
  const dnsClock = Math.max(...clocks.filter((_, part) => part !== CLOCK_INDEX.web))
  return {
    domain: name,
    has_website: web.has_website,
    redirect_to_https: web.redirect_to_https,
    redirect_to_www: web.redirect_to_www,
    redirect_target: web.redirects_to,
    only_with_www: web.only_with_www,
    only_dns_no_web: facts.only_dns_no_web,
    ssl: web.ssl,
    ip: facts.ip,
    social_networks: web.social_networks,
    social_accounts: web.social_accounts.map(({ url }) => url),
    ...Object.fromEntries(records),
    dns_observed: timeOf(dnsClock),
    web_observed: timeOf(clocks[CLOCK_INDEX.web]!),
  }
}

/** Null for a part that was never observed. */
function timeOf(instant: Instant): Date | null {
  return instant === 0 ? null : new Date(instant * 1000)
}

/** The schema: lists have the three levels of the Parquet format (LogicalTypes, section Lists). */
function parquetSchema(): SchemaElement[] {
  return [{ name: 'domains', num_children: PARQUET_COLUMNS.length }, ...PARQUET_COLUMNS.flatMap(columnSchema)]
}

function columnSchema({ name, kind }: Column): SchemaElement[] {
  const optional = { name, repetition_type: 'OPTIONAL' } as const
  const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
  if (kind === 'flag') return [{ ...optional, type: 'BOOLEAN' }]
  if (kind === 'time') return [{ ...optional, type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }]
  if (kind === 'text') return [{ ...optional, ...text }]
  return [
    { ...optional, converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'REQUIRED', ...text },
  ]
}
