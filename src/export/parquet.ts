/** Writes Parquet files of all names: the current facts, one row per name, or the DNS history, one row per state. */

import { fileWriter, type ParquetWriteOptions, parquetWriteRows } from 'hyparquet-writer'
import { CLOCK_INDEX } from '../apply/stored-numbers.ts'
import { RECORD_TYPES } from '../values/records/dns-record.ts'
import { formatPresentation } from '../values/records/presentation.ts'
import type { Instant } from '../values/time.ts'
import type { NameHistory } from './name-history.ts'

type SchemaElement = NonNullable<ParquetWriteOptions['schema']>[number]
type Column = { name: string; kind: 'text' | 'flag' | 'time' | 'texts' }

/**
 * The columns of the current facts. Null: it was never observed, or there is none. A name that is gone has no records.
 */
const FACTS_COLUMNS: readonly Column[] = [
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

/** The columns of the DNS history. `last_seen`: the last observation that showed the state. */
const STATES_COLUMNS: readonly Column[] = [
  { name: 'domain', kind: 'text' },
  { name: 'type', kind: 'text' },
  { name: 'first_seen', kind: 'time' },
  { name: 'superseded', kind: 'time' },
  { name: 'last_seen', kind: 'time' },
  { name: 'records', kind: 'texts' },
]

type ParquetRow = Record<string, unknown>

/** `facts`: one row per name. `states`: one row per state of a record type, the newest of each type first. */
export const PARQUET_TABLES = {
  facts: { columns: FACTS_COLUMNS, rowsOf: (history: NameHistory): ParquetRow[] => [factsRow(history)] },
  states: { columns: STATES_COLUMNS, rowsOf: stateRows },
} as const
export type ParquetTable = keyof typeof PARQUET_TABLES

/** Rows of a row group. A reader skips groups by the first and the last name, so they must not be too large. */
const ROWS_PER_GROUP = 20_000

/** Writes a file and returns the number of rows. The names come in byte order. */
export async function writeParquet(
  table: ParquetTable,
  path: string,
  histories: AsyncIterable<readonly NameHistory[]>,
): Promise<number> {
  const { columns, rowsOf } = PARQUET_TABLES[table]
  const writer = fileWriter(path)
  let count = 0
  async function* rows(): AsyncGenerator<ParquetRow> {
    for await (const batch of histories)
      for (const history of batch)
        for (const row of rowsOf(history)) {
          count++
          yield row
        }
  }
  await parquetWriteRows({
    writer,
    rows: rows(),
    columns: columns.map(({ name }) => ({ name, columnIndex: name === 'domain' })),
    schema: parquetSchema(columns),
    rowGroupSize: ROWS_PER_GROUP,
    statisticsTruncateLength: Number.POSITIVE_INFINITY,
    createdBy: 'domaindex',
  })
  return count
}

function stateRows({ name, timelines }: NameHistory): ParquetRow[] {
  return RECORD_TYPES.flatMap((type) =>
    timelines[type].states.map(({ first_seen, last_seen, records }, index, states) => ({
      domain: name,
      type,
      first_seen: timeOf(first_seen),
      superseded: index === 0 ? null : timeOf(states[index - 1]!.first_seen),
      last_seen: timeOf(last_seen),
      records: records.map((record) => formatPresentation(type, record)),
    })),
  )
}

function factsRow({ name, clocks, facts, timelines }: NameHistory): ParquetRow {
  const webClock = clocks[CLOCK_INDEX.web]!
  const web = webClock === 0 ? null : facts.web
  const isNxdomain = facts.status === 'nxdomain'
  const records = RECORD_TYPES.map((type) => {
    const [newest] = isNxdomain ? [] : timelines[type].states
    return [type.toLowerCase(), newest?.records.map((record) => formatPresentation(type, record)) ?? null]
  })
  const dnsClock = Math.max(...clocks.filter((_, part) => part !== CLOCK_INDEX.web && part !== CLOCK_INDEX.certificate))
  return {
    domain: name,
    has_website: web?.has_website ?? null,
    redirect_to_https: web?.redirect_to_https ?? null,
    redirect_to_www: web?.redirect_to_www ?? null,
    redirect_target: web?.redirects_to ?? null,
    only_with_www: web?.only_with_www ?? null,
    only_dns_no_web: dnsClock === 0 ? null : facts.only_dns_no_web,
    ssl: facts.web?.ssl ?? null,
    ip: facts.ip,
    social_networks: web?.social_networks ?? null,
    social_accounts: web?.social_accounts.map(({ url }) => url) ?? null,
    ...Object.fromEntries(records),
    dns_observed: timeOf(dnsClock),
    web_observed: timeOf(webClock),
  }
}

/** Null for a part that was never observed. */
function timeOf(instant: Instant): Date | null {
  return instant === 0 ? null : new Date(instant * 1000)
}

/** The schema: lists have the three levels of the Parquet format (LogicalTypes, section Lists). */
function parquetSchema(columns: readonly Column[]): SchemaElement[] {
  return [{ name: 'domains', num_children: columns.length }, ...columns.flatMap(columnSchema)]
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
