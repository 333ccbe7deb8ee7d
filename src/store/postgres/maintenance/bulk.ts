/** A whole PostgreSQL store, as the source or the target of a copy. */

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
  COPY_WATCH_VERSION,
  type LastNumbers,
  rowFromJson,
  rowToJson,
} from '../../port/bulk.ts'
import { StoreFault } from '../../port/fault.ts'
import { inRunSql, readRuns } from '../database/citus/part-runs.ts'
import { clientConfigOf } from '../database/connection.ts'
import { openDatabase } from '../database/database.ts'
import { toStoreFault } from '../database/errors.ts'
import { ID_BLOCK } from '../database/ids.ts'
import { hasTables } from '../database/migrate.ts'
import {
  PART_VALUES,
  partitionOfFingerprint,
  partitionOfName,
  partitionOfPackedAddress,
  partitionOfSlot,
} from '../database/partition.ts'
import { inShardSql, type Shards } from '../database/shards.ts'
import { START_INVERSE_FILL } from '../inverse/maintenance.ts'
import { redactPostgresUrl } from '../locations.ts'
import { checkStorePurpose, createSchemaIfMissing } from '../open.ts'

/** Of secrets of the operator, the store has only a digest. They are not copied. */
const COPY_CONDITIONS_POSTGRES: Record<string, string> = { ...COPY_CONDITIONS, secret: 't.bytes is not null' }
/** The sequences of numbered tables. */
const NUMBER_SEQUENCES: Record<keyof LastNumbers, string> = {
  account: 'account_id_seq',
  token: 'token_id_seq',
  session: 'session_id_seq',
  operator_token: 'operator_token_id_seq',
  audit: 'audit_id_seq',
  watch: 'watch_id_seq',
  webhook: 'webhook_id_seq',
  document: 'document_number',
  event: 'event_number_seq',
}
/** As SQLite stores them: a JSON array in hexadecimal. */
const ADDRESSES_AS_JSON = `'["' || array_to_string(array(select encode(a, 'hex') from unnest(t.addresses) a), '","') || '"]'`
const SAVE_COPY_PROGRESS = `insert into metadata (name, value) values ('copy', $1) on conflict (name) do update set value = excluded.value`

/** `read`: an existing store. `write`: creates the tables if there are none. Throws StoreFault. */
export async function openBulkPostgres(url: string, access: 'read' | 'write'): Promise<BulkStore> {
  const database = await openDatabase(url, { pool: 2, applicationName: 'domaindex copy' })
  let shards: Shards
  try {
    if (access === 'read' && !(await hasTables(database)))
      throw new StoreFault(`there is no store at ${redactPostgresUrl(url)}`)
    await createSchemaIfMissing(database, url)
    if (access === 'read') await checkStorePurpose(database, url, false)
    shards = await database.shards()
  } finally {
    await database.close()
  }
  // A separate connection: COPY cannot share one, and counting a large table takes long.
  const config = clientConfigOf(url, 'domaindex copy', database.hasCitus)
  const client = new pg.Client({ ...config, pipeline: false, statement_timeout: 0 })
  client.on('error', () => {}) // the pending query gets the error too
  await client.connect()
  // the progress is written together with its rows
  if (access === 'write') await client.query('set synchronous_commit = off')
  return withUserMessages(bulkStoreOf(client, shards), url)
}

function bulkStoreOf(client: pg.Client, shards: Shards): BulkStore {
  const readValue = async (sql: string, values: BulkValue[] = []): Promise<BulkValue> =>
    (await client.query({ text: sql, values, rowMode: 'array' })).rows[0]?.[0] ?? null
  return {
    count: async (table) => (await readValue(`select count(*) from ${copySource(table)}`)) as number,
    read: (table, after, limit) => readBulkRows(client, shards, table, after, limit),
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
    progress: async () => (await readValue(`select value from metadata where name = 'copy'`)) as string | null,
    lastNumbers: async () => ({
      account: Number(await readValue(lastNumberSql('account'))),
      token: Number(await readValue(lastNumberSql('token'))),
      session: Number(await readValue(lastNumberSql('session'))),
      operator_token: Number(await readValue(lastNumberSql('operator_token'))),
      audit: Number(await readValue(lastNumberSql('audit'))),
      watch: Number(await readValue(lastNumberSql('watch'))),
      webhook: Number(await readValue(lastNumberSql('webhook'))),
      document: Number(await readValue(lastNumberSql('document'))),
      event: Number(await readValue(lastNumberSql('event'))),
    }),
    finish: (numbered) => finishCopy(client, numbered),
    close: () => client.end(),
  }
}

/** The highest number ever assigned in a table. */
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
  await client.query(COPY_WATCH_VERSION)
  await client.query(START_INVERSE_FILL) // the inverse index is not copied
  await client.query(`delete from metadata where name = 'copy'`)
  await client.query(`analyze ${BULK_TABLES.map(({ name }) => `"${name}"`)}`)
}

function copySource({ name }: BulkTable): string {
  return `"${name}" t where ${COPY_CONDITIONS_POSTGRES[name] ?? 'true'}`
}

/** Reads a table with partitions from shard to shard. */
async function readBulkRows(client: pg.Client, shards: Shards, table: BulkTable, after: string | null, limit: number) {
  const keys = keyColumns(table)
  const isInShards = keys[0] === PART_COLUMN && !LOCAL_TABLES.includes(table.name)
  const values = after === null ? [] : rowFromJson(after)
  const read = async (max: number, run: readonly unknown[]): Promise<BulkValue[][]> => {
    const text = readSql(table, keys, values.length, run.length > 0, max)
    return (await client.query<BulkValue[]>({ text, values: [...values, ...run], rowMode: 'array' })).rows
  }
  const from = (values[0] ?? null) as number | null
  const rows = isInShards ? await readRuns(shards, from, limit, (run, max) => read(max, run)) : await read(limit, [])
  const last = rows.length < limit ? undefined : rows.at(-1)
  const next = last ? rowToJson(last.slice(-keys.length)) : null
  return { rows: rows.map((row) => row.slice(0, row.length - keys.length)), next }
}

const PART_COLUMN = 't."part"'
/** Tables with partitions that Citus does not distribute. */
const LOCAL_TABLES: readonly string[] = ['page_document']

/** The columns in whose order a table is read. */
function keyColumns(table: BulkTable): string[] {
  const columns = table.columns.slice(0, table.key).map((column) => `t."${column}"`)
  return isPartitioned(table) && table.partitionKey !== 'number' ? [PART_COLUMN, ...columns] : columns
}

/** `keyValues`: how many parameters are the position to continue from. The parameters of a run follow. */
function readSql(table: BulkTable, keys: readonly string[], keyValues: number, isRun: boolean, limit: number): string {
  const { name, columns, belongsToName } = table
  const selected = columns.map((column) =>
    name === 'facts' && column === 'addresses'
      ? `case when t.addresses is not null then ${ADDRESSES_AS_JSON} end`
      : `t."${column}"`,
  )
  const inRun = isRun ? `and ${inRunSql('t.part', keyValues + 1)}` : ''
  const inShard = isRun ? `and ${inShardSql('f.part', keyValues + 3)}` : ''
  const owner = isRun ? `(select name from facts f where f.part = t.part and f.id = t.id ${inShard})` : 't.name'
  const from = keyValues === 0 ? '' : `and (${keys}) > (${keys.map((_, index) => `$${index + 1}`)})`
  return `select ${selected}${belongsToName ? `, ${owner}` : ''}, ${keys} from ${copySource(table)} ${from} ${inRun}
    order by ${keys} limit ${limit}`
}

async function copyIn(client: pg.Client, table: BulkTable, rows: readonly BulkRow[]): Promise<void> {
  const hasPartition = isPartitioned(table)
  const columns = [...(hasPartition ? ['part'] : []), ...table.columns].map((column) => `"${column}"`)
  const lines = function* (): Generator<string> {
    for (const row of rows) yield copyLine(hasPartition ? [partitionOfRow(table, row), ...copyValues(table, row)] : row)
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

/** If the name of a row is unknown, which happens only in a damaged store, its partition is the first one. */
function partitionOfRow({ columns, partitionKey, belongsToName }: BulkTable, row: BulkRow): number {
  const value = belongsToName ? row[columns.length] : row[columns.indexOf(partitionKey!)]
  if (value == null) return PART_VALUES[0]!
  if (partitionKey === 'slot') return partitionOfSlot(value as number)
  if (partitionKey === 'sha256') return partitionOfFingerprint(value as Uint8Array)
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

/** Replaces errors that a user can fix by a StoreFault. */
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
