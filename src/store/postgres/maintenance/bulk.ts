/** A whole store in a PostgreSQL, for a copy from it or to it. */

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { DomainName } from '../../../values/domain-name.ts'
import {
  BULK_TABLES,
  type BulkRow,
  type BulkStore,
  type BulkTable,
  type BulkValue,
  COPY_CONDITIONS,
  type LastNumbers,
  rowFromJson,
  rowToJson,
} from '../../port/bulk.ts'
import { StoreFault } from '../../port/fault.ts'
import { redactedStoreUrl } from '../../port/url.ts'
import { clientConfigOf } from '../database/connection.ts'
import { openDatabase } from '../database/database.ts'
import { toStoreFault } from '../database/errors.ts'
import { ID_BLOCK } from '../database/ids.ts'
import { hasTables } from '../database/migrate.ts'
import { partitionOfName, partitionOfPackedAddress } from '../database/partition.ts'
import { checkStorePurpose, createSchemaIfMissing } from '../open.ts'

/** Secrets that an operator gives are known by a digest alone, and stay where they are. */
const COPY_CONDITIONS_POSTGRES: Record<string, string> = { ...COPY_CONDITIONS, secret: 't.bytes is not null' }
/** What gives the numbers of a table. */
const NUMBER_SEQUENCES: Record<keyof LastNumbers, string> = {
  account: 'account_id_seq',
  token: 'token_id_seq',
  audit: 'audit_id_seq',
  document: 'document_number',
}
/** As SQLite keeps them: a JSON array in hexadecimal. */
const ADDRESSES_AS_JSON = `'["' || array_to_string(array(select encode(a, 'hex') from unnest(t.addresses) a), '","') || '"]'`
const SAVE_COPY_PROGRESS = `insert into metadata (name, value) values ('copy', $1) on conflict (name) do update set value = excluded.value`

/** `read`: a store that is there. `write`: its tables are made where there are none. Throws StoreFault. */
export async function openBulkPostgres(url: string, access: 'read' | 'write'): Promise<BulkStore> {
  const database = await openDatabase(url, { pool: 2, applicationName: 'domaindex copy' })
  try {
    if (access === 'read' && !(await hasTables(database)))
      throw new StoreFault(`there is no store at ${redactedStoreUrl(url)}`)
    await createSchemaIfMissing(database, url)
    if (access === 'read') await checkStorePurpose(database, url, false)
  } finally {
    await database.close()
  }
  // A connection of its own: COPY cannot share one, and a count of a large table takes its time.
  const client = new pg.Client({ ...clientConfigOf(url, 'domaindex copy'), pipeline: false, statement_timeout: 0 })
  client.on('error', () => {}) // who waits for an answer is told as well
  await client.connect()
  if (access === 'write') await client.query('set synchronous_commit = off') // the progress is written with the rows that it counts
  return withUserMessages(bulkStoreOf(client), url)
}

function bulkStoreOf(client: pg.Client): BulkStore {
  const one = async (sql: string, values: BulkValue[] = []): Promise<BulkValue> =>
    (await client.query({ text: sql, values, rowMode: 'array' })).rows[0]?.[0] ?? null
  return {
    count: async (table) => (await one(`select count(*) from ${copySource(table)}`)) as number,
    read: (table, after, limit) => readBulkRows(client, table, after, limit),
    async write(table, rows, progress) {
      await client.query('begin')
      try {
        await copyIn(client, table, rows)
        await client.query(SAVE_COPY_PROGRESS, [progress])
        await client.query('commit')
      } catch (error) {
        await client.query('rollback').catch(() => {})
        throw error
      }
    },
    progress: async () => (await one(`select value from metadata where name = 'copy'`)) as string | null,
    lastNumbers: async () => ({
      account: Number(await one(lastNumberSql('account'))),
      token: Number(await one(lastNumberSql('token'))),
      audit: Number(await one(lastNumberSql('audit'))),
      document: Number(await one(lastNumberSql('document'))),
    }),
    finish: (numbered) => finishCopy(client, numbered),
    close: () => client.end(),
  }
}

/** The highest number that was ever given in a table. */
function lastNumberSql(table: keyof LastNumbers): string {
  return `select case when is_called then last_value else 0 end from ${NUMBER_SEQUENCES[table]}`
}

async function finishCopy(client: pg.Client, numbered: LastNumbers): Promise<void> {
  for (const table of Object.keys(NUMBER_SEQUENCES) as (keyof LastNumbers)[])
    if (numbered[table] > 0) await client.query(`select setval('${NUMBER_SEQUENCES[table]}', $1)`, [numbered[table]])
  const { rows } = await client.query('select coalesce(max(id), 0) as last from crawl_state')
  const block = ID_BLOCK * Math.floor(rows[0].last / ID_BLOCK)
  if (block > 0) await client.query(`select setval('name_id', $1)`, [block])
  await client.query('set synchronous_commit = on')
  await client.query(`delete from metadata where name = 'copy'`)
  await client.query(`analyze ${BULK_TABLES.map(({ name }) => `"${name}"`)}`)
}

function copySource({ name }: BulkTable): string {
  return `"${name}" t where ${COPY_CONDITIONS_POSTGRES[name] ?? 'true'}`
}

async function readBulkRows(client: pg.Client, table: BulkTable, after: string | null, limit: number) {
  const { name, columns, key, belongsToName, partitionKey } = table
  const isByPart = isPartitioned(table) && partitionKey !== 'number'
  const keys = [...(isByPart ? ['part'] : []), ...columns.slice(0, key)].map((column) => `t."${column}"`)
  const from = after === null ? '' : `and (${keys}) > (${keys.map((_, index) => `$${index + 1}`)})`
  const selected = columns.map((column) =>
    name === 'facts' && column === 'addresses'
      ? `case when t.addresses is not null then ${ADDRESSES_AS_JSON} end`
      : `t."${column}"`,
  )
  const owner = belongsToName ? ', (select name from facts f where f.part = t.part and f.id = t.id)' : ''
  const text = `select ${selected}${owner}, ${keys} from ${copySource(table)} ${from} order by ${keys} limit ${limit}`
  const { rows } = await client.query<BulkValue[]>({
    text,
    values: after === null ? [] : rowFromJson(after),
    rowMode: 'array',
  })
  const last = rows.length < limit ? undefined : rows.at(-1)
  const next = last ? rowToJson(last.slice(-keys.length)) : null
  return { rows: rows.map((row) => row.slice(0, row.length - keys.length)), next }
}

async function copyIn(client: pg.Client, table: BulkTable, rows: readonly BulkRow[]): Promise<void> {
  const isSpread = isPartitioned(table)
  const columns = [...(isSpread ? ['part'] : []), ...table.columns].map((column) => `"${column}"`)
  const lines = function* (): Generator<string> {
    for (const row of rows) yield copyLine(isSpread ? [partitionOfRow(table, row), ...copyValues(table, row)] : row)
  }
  await pipeline(
    Readable.from(lines(), { highWaterMark: 1000 }),
    client.query(copyFrom(`copy "${table.name}" (${columns}) from stdin`)),
  )
}

function isPartitioned({ belongsToName, partitionKey }: BulkTable): boolean {
  return belongsToName === true || partitionKey !== undefined
}

function copyValues({ name, columns }: BulkTable, row: BulkRow): BulkRow {
  const values = row.slice(0, columns.length)
  const index = columns.indexOf('addresses')
  if (name !== 'facts' || values[index] == null) return values
  const hexes = JSON.parse(values[index] as string) as string[]
  return values.with(index, `{${hexes.map((hex) => `"\\\\x${hex}"`).join(',')}}`)
}

/** A row whose name is not known, as only a damaged store has it, lies in part 0. */
function partitionOfRow({ columns, partitionKey, belongsToName }: BulkTable, row: BulkRow): number {
  const value = belongsToName ? row[columns.length] : row[columns.indexOf(partitionKey!)]
  if (value == null) return 0
  if (partitionKey === 'slot') return (value as number) >> 8
  if (partitionKey === 'number') return (value as number) & 255
  return partitionKey === 'address'
    ? partitionOfPackedAddress(value as Uint8Array)
    : partitionOfName(value as DomainName)
}

/** A line of COPY's text format, https://www.postgresql.org/docs/current/sql-copy.html. */
function copyLine(row: BulkRow): string {
  return `${row.map(copyField).join('\t')}\n`
}

const COPY_ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function copyField(value: BulkValue): string {
  if (value === null) return '\\N'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return value.replace(/[\\\t\n\r]/g, (character) => COPY_ESCAPES[character]!)
  return `\\\\x${Buffer.from(value).toString('hex')}`
}

/** What a user can mend is said in words. */
function withUserMessages(bulk: BulkStore, url: string): BulkStore {
  const methods = Object.entries(bulk).map(([name, method]) => [
    name,
    (...values: unknown[]) =>
      (method as (...values: unknown[]) => Promise<unknown>)(...values).catch((error) => {
        throw toStoreFault(error, url)
      }),
  ])
  return Object.fromEntries(methods)
}
