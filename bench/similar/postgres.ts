/** A store in a PostgreSQL of its own, what its tables take, and what its server takes of a processor. */

import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { openStore } from '../../src/store/open.ts'
import { end } from '../measure/process.ts'
import { connectionTo, startServer } from '../world/postgres.ts'
import type { Place, Sizes } from './store.ts'

const TABLES = [
  'document',
  'page_document',
  'posting',
  'document_frequency',
  'segment',
  'document_tombstone',
  'orphan_document',
]
/** Linux counts processor time so often a second. */
const TICKS = 100
/**
 * Where the user's ticks are in a line of /proc/PID/stat, counted after the name; the system's and those of ended
 * children follow.
 */
const PARENT = 1
const FIRST_TICKS = 11

const SIZES = 'select name, pg_total_relation_size(name::regclass)::float8 as bytes from unnest($1::text[]) name'
/** Of a table, what it keeps beside its rows, and the indexes of both. */
const FREE = `with own as (
    select unnest(array[oid, nullif(reltoastrelid, 0)]) as relation from pg_class where oid = any ($1::regclass[])),
  every as (select relation from own where relation is not null
    union all select indexrelid from pg_index join own on indrelid = relation)
  select coalesce(sum(avail), 0)::float8 as bytes from every, pg_freespace(relation::regclass)`

/** The store in the database of a name, made where there is none; the server keeps its data in a folder. */
export async function placeInPostgres(folder: string, database: string): Promise<Place> {
  const { started, socket } = await startServer(folder)
  const ask = (name: string) => withClient({ ...connectionTo(socket), database: name })
  try {
    const isNew = await ask('postgres')((client) => make(client, database))
    const url = `postgres://bench@localhost/${database}?host=${socket}`
    const store = await openStore(url, { access: 'write', ledger: 'own', secret: null })
    return {
      isNew,
      store,
      served: () => secondsOf(started.child.pid!),
      sizes: () => ask(database)(sizesOf),
      settle: () => ask(database)(async (client) => void (await client.query('vacuum (analyze)'))),
      async close() {
        await store.close()
        await end(started)
      },
    }
  } catch (error) {
    await end(started)
    throw error
  }
}

function withClient(config: pg.ClientConfig) {
  return async <Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> => {
    const client = new pg.Client(config)
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }
}

/** True where there was none of the name. */
async function make(client: pg.Client, database: string): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [database])
  if (rowCount === 0) await client.query(`create database ${database}`)
  return rowCount === 0
}

async function sizesOf(client: pg.Client): Promise<Sizes> {
  await client.query('create extension if not exists pg_freespacemap')
  const { rows } = await client.query<{ name: string; bytes: number }>(SIZES, [TABLES])
  const free = await client.query<{ bytes: number }>(FREE, [TABLES])
  return { tables: Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes])), free: free.rows[0]!.bytes }
}

/** What a server's process and those that it started took of a processor so far. */
function secondsOf(server: number): number {
  let ticks = 0
  for (const process of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = statOf(process)
    if (process !== String(server) && fields[PARENT] !== String(server)) continue
    for (const each of fields.slice(FIRST_TICKS, FIRST_TICKS + 4)) ticks += Number(each)
  }
  return ticks / TICKS
}

/** The fields after the name, which may have spaces in it; none where the process is gone. */
function statOf(process: string): string[] {
  try {
    const line = readFileSync(`/proc/${process}/stat`, 'latin1')
    return line.slice(line.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
