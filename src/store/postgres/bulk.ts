/** A whole store in a PostgreSQL, for a copy from it or to it. */

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Name } from '../../words/name.ts'
import {
  type Bulk,
  type BulkRow,
  COPIED,
  type Numbered,
  readRowText,
  rowText,
  TABLES,
  type Table,
  type Value,
} from '../bulk.ts'
import { StoreFault } from '../fault.ts'
import { shown } from '../url.ts'
import { configOf } from './connection.ts'
import { openDatabase } from './database.ts'
import { ID_BLOCK } from './ids.ts'
import { hasTables } from './migrate.ts'
import { bringUp, judgeMarks } from './open.ts'
import { partOf, partOfPacked } from './part.ts'
import { inWords } from './trouble.ts'

/** Secrets that an operator gives are known by a digest alone, and stay where they are. */
const WHERE: Record<string, string> = { ...COPIED, secret: 't.bytes is not null' }
/** What gives the numbers of a table. */
const SEQUENCES: Record<keyof Numbered, string> = {
  account: 'account_id_seq',
  token: 'token_id_seq',
  audit: 'audit_id_seq',
  wording: 'wording_number',
}
/** As SQLite keeps them: a JSON array in hexadecimal. */
const ADDRESSES = `'["' || array_to_string(array(select encode(a, 'hex') from unnest(t.addresses) a), '","') || '"]'`
const MARK = `insert into mark (name, value) values ('copy', $1) on conflict (name) do update set value = excluded.value`

/** `read`: a store that is there. `write`: its tables are made where there are none. Throws StoreFault. */
export async function openBulkPostgres(url: string, access: 'read' | 'write'): Promise<Bulk> {
  const database = await openDatabase(url, { pool: 2, who: 'domaindex copy' })
  try {
    if (access === 'read' && !(await hasTables(database))) throw new StoreFault(`there is no store at ${shown(url)}`)
    await bringUp(database, url)
    if (access === 'read') await judgeMarks(database, url, false)
  } finally {
    await database.close()
  }
  // A connection of its own: COPY cannot share one, and a count of a large table takes its time.
  const client = new pg.Client({ ...configOf(url, 'domaindex copy'), pipeline: false, statement_timeout: 0 })
  client.on('error', () => {}) // who waits for an answer is told as well
  await client.connect()
  if (access === 'write') await client.query('set synchronous_commit = off') // a mark is written with what it stands for
  return worded(bulkOf(client), url)
}

function bulkOf(client: pg.Client): Bulk {
  const one = async (sql: string, values: Value[] = []): Promise<Value> =>
    (await client.query({ text: sql, values, rowMode: 'array' })).rows[0]?.[0] ?? null
  return {
    count: async (table) => (await one(`select count(*) from ${sourceOf(table)}`)) as number,
    read: (table, after, limit) => read(client, table, after, limit),
    async write(table, rows, mark) {
      await client.query('begin')
      try {
        await copyIn(client, table, rows)
        await client.query(MARK, [mark])
        await client.query('commit')
      } catch (error) {
        await client.query('rollback').catch(() => {})
        throw error
      }
    },
    mark: async () => (await one(`select value from mark where name = 'copy'`)) as string | null,
    numbered: async () => ({
      account: Number(await one(numberOf('account'))),
      token: Number(await one(numberOf('token'))),
      audit: Number(await one(numberOf('audit'))),
      wording: Number(await one(numberOf('wording'))),
    }),
    finish: (numbered) => finish(client, numbered),
    close: () => client.end(),
  }
}

/** The highest number that was ever given in a table. */
function numberOf(table: keyof Numbered): string {
  return `select case when is_called then last_value else 0 end from ${SEQUENCES[table]}`
}

async function finish(client: pg.Client, numbered: Numbered): Promise<void> {
  for (const table of Object.keys(SEQUENCES) as (keyof Numbered)[])
    if (numbered[table] > 0) await client.query(`select setval('${SEQUENCES[table]}', $1)`, [numbered[table]])
  const { rows } = await client.query('select coalesce(max(id), 0) as last from visit')
  const block = ID_BLOCK * Math.floor(rows[0].last / ID_BLOCK)
  if (block > 0) await client.query(`select setval('name_id', $1)`, [block])
  await client.query('set synchronous_commit = on')
  await client.query(`delete from mark where name = 'copy'`)
  await client.query(`analyze ${TABLES.map(({ name }) => `"${name}"`)}`)
}

function sourceOf({ name }: Table): string {
  return `"${name}" t where ${WHERE[name] ?? 'true'}`
}

async function read(client: pg.Client, table: Table, after: string | null, limit: number) {
  const { name, columns, key, owned, spread } = table
  const isByPart = hasParts(table) && spread !== 'number'
  const keys = [...(isByPart ? ['part'] : []), ...columns.slice(0, key)].map((column) => `t."${column}"`)
  const from = after === null ? '' : `and (${keys}) > (${keys.map((_, place) => `$${place + 1}`)})`
  const selected = columns.map((column) =>
    name === 'facts' && column === 'addresses'
      ? `case when t.addresses is not null then ${ADDRESSES} end`
      : `t."${column}"`,
  )
  const owner = owned ? ', (select name from facts f where f.part = t.part and f.id = t.id)' : ''
  const text = `select ${selected}${owner}, ${keys} from ${sourceOf(table)} ${from} order by ${keys} limit ${limit}`
  const { rows } = await client.query<Value[]>({
    text,
    values: after === null ? [] : readRowText(after),
    rowMode: 'array',
  })
  const last = rows.length < limit ? undefined : rows.at(-1)
  const next = last ? rowText(last.slice(-keys.length)) : null
  return { rows: rows.map((row) => row.slice(0, row.length - keys.length)), next }
}

async function copyIn(client: pg.Client, table: Table, rows: readonly BulkRow[]): Promise<void> {
  const isSpread = hasParts(table)
  const columns = [...(isSpread ? ['part'] : []), ...table.columns].map((column) => `"${column}"`)
  const lines = function* (): Generator<string> {
    for (const row of rows) yield lineOf(isSpread ? [partOfRow(table, row), ...valuesOf(table, row)] : row)
  }
  await pipeline(
    Readable.from(lines(), { highWaterMark: 1000 }),
    client.query(copyFrom(`copy "${table.name}" (${columns}) from stdin`)),
  )
}

function hasParts({ owned, spread }: Table): boolean {
  return owned === true || spread !== undefined
}

function valuesOf({ name, columns }: Table, row: BulkRow): BulkRow {
  const values = row.slice(0, columns.length)
  const place = columns.indexOf('addresses')
  if (name !== 'facts' || values[place] == null) return values
  const hexes = JSON.parse(values[place] as string) as string[]
  return values.with(place, `{${hexes.map((hex) => `"\\\\x${hex}"`).join(',')}}`)
}

/** A row whose name is not known, as only a damaged store has it, lies in part 0. */
function partOfRow({ columns, spread, owned }: Table, row: BulkRow): number {
  const value = owned ? row[columns.length] : row[columns.indexOf(spread!)]
  if (value == null) return 0
  if (spread === 'slot') return (value as number) >> 8
  if (spread === 'number') return (value as number) & 255
  return spread === 'address' ? partOfPacked(value as Uint8Array) : partOf(value as Name)
}

/** A line of COPY's text format, https://www.postgresql.org/docs/current/sql-copy.html. */
function lineOf(row: BulkRow): string {
  return `${row.map(fieldOf).join('\t')}\n`
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function fieldOf(value: Value): string {
  if (value === null) return '\\N'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return value.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character]!)
  return `\\\\x${Buffer.from(value).toString('hex')}`
}

/** What a user can mend is said in words. */
function worded(bulk: Bulk, url: string): Bulk {
  const methods = Object.entries(bulk).map(([name, method]) => [
    name,
    (...values: unknown[]) =>
      (method as (...values: unknown[]) => Promise<unknown>)(...values).catch((error) => {
        throw inWords(error, url)
      }),
  ])
  return Object.fromEntries(methods)
}
