/** Finds a text anywhere in the tables of a store, whatever their columns are: as text, and in bytes. */

import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { sqliteFilesOf } from '../../src/store/sqlite/locations.ts'

/**
 * Returns `table.column` of each value that contains one of the texts, each once and sorted. Letter case does not matter,
 * so a pattern is in lower case. A character of a value is a byte.
 */
export async function placesOf(url: string, ...texts: readonly (string | Uint8Array | RegExp)[]): Promise<string[]> {
  const tests = texts.map((text): ((value: string) => boolean) => {
    if (text instanceof RegExp) return (value) => text.test(value)
    const bytes = lowerLatin1(typeof text === 'string' ? Buffer.from(text) : text)
    return (value) => value.includes(bytes)
  })
  const found = new Set<string>()
  const look = (table: string, rows: readonly Record<string, unknown>[]): void => {
    for (const row of rows)
      for (const [column, value] of Object.entries(row))
        if (tests.some((contains) => contains(bytesOf(value)))) found.add(`${table}.${column}`)
  }
  await (url.startsWith('sqlite:') ? readSqlite : readPostgres)(url, look)
  return [...found].sort()
}

type Look = (table: string, rows: readonly Record<string, unknown>[]) => void

async function readSqlite(url: string, look: Look): Promise<void> {
  const { facts, ledger } = sqliteFilesOf(url.slice('sqlite:'.length))
  for (const file of [facts, ledger]) {
    const database = new DatabaseSync(file, { readOnly: true })
    const tables = database.prepare("select name from sqlite_schema where type = 'table'").all() as { name: string }[]
    for (const { name } of tables) look(name, database.prepare(`select * from "${name}"`).all())
    database.close()
  }
}

async function readPostgres(url: string, look: Look): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const tables = await client.query('select tablename as name from pg_tables where schemaname = current_schema()')
    for (const { name } of tables.rows) look(name, (await client.query(`select * from "${name}"`)).rows)
  } finally {
    await client.end()
  }
}

function bytesOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Uint8Array) return lowerLatin1(value)
  return lowerLatin1(Buffer.from(typeof value === 'object' ? JSON.stringify(value) : String(value)))
}

const lowerLatin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1').toLowerCase()
