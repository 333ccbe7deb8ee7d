/** A store in a PostgreSQL server of its own, the size of its tables, and the processor time of the server. */

import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { openStore } from '../../src/store/open.ts'
import { stopProcess } from '../measure/process.ts'
import { connectionConfig, startPostgresServer } from '../world/postgres.ts'
import type { SimilarStore, Sizes } from './store.ts'

const TABLES = [
  'document',
  'page_document',
  'posting',
  'document_frequency',
  'segment',
  'document_tombstone',
  'orphan_document',
]
/** Ticks per second in which Linux counts processor time. */
const TICKS_PER_SECOND = 100
/**
 * Fields of /proc/PID/stat, counted after the name: the parent, and the first of four processor times (user, system,
 * and both of ended children).
 */
const PARENT_FIELD = 1
const CPU_FIELD = 11

const SIZE_QUERY = 'select name, pg_total_relation_size(name::regclass)::float8 as bytes from unnest($1::text[]) name'
/** Free space of the tables, their TOAST tables and the indexes of both. */
const FREE_SPACE_QUERY = `with own as (
    select unnest(array[oid, nullif(reltoastrelid, 0)]) as relation from pg_class where oid = any ($1::regclass[])),
  every as (select relation from own where relation is not null
    union all select indexrelid from pg_index join own on indrelid = relation)
  select coalesce(sum(avail), 0)::float8 as bytes from every, pg_freespace(relation::regclass)`

/** Opens the store in a database, and creates it if it does not exist. The server keeps its data in the folder. */
export async function openPostgresStore(folder: string, database: string): Promise<SimilarStore> {
  const { running, socket } = await startPostgresServer(folder)
  const withDatabase = (name: string) => withClient({ ...connectionConfig(socket), database: name })
  try {
    const isNew = await withDatabase('postgres')((client) => createDatabase(client, database))
    const url = `postgres://bench@localhost/${database}?host=${socket}`
    const open = (access: 'read' | 'write') => openStore(url, { access, ledger: 'own', secret: null })
    const store = await open('write')
    return {
      isNew,
      store,
      openReader: () => open('read'),
      serverCpuSeconds: () => serverCpuSeconds(running.child.pid!),
      sizes: () => withDatabase(database)(sizesOf),
      settle: () => withDatabase(database)(async (client) => void (await client.query('vacuum (analyze)'))),
      async close() {
        await store.close()
        await stopProcess(running)
      },
    }
  } catch (error) {
    await stopProcess(running)
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

/** Returns true if the database did not exist. */
async function createDatabase(client: pg.Client, database: string): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [database])
  if (rowCount === 0) await client.query(`create database ${database}`)
  return rowCount === 0
}

async function sizesOf(client: pg.Client): Promise<Sizes> {
  await client.query('create extension if not exists pg_freespacemap')
  const { rows } = await client.query<{ name: string; bytes: number }>(SIZE_QUERY, [TABLES])
  const free = await client.query<{ bytes: number }>(FREE_SPACE_QUERY, [TABLES])
  return { tables: Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes])), free: free.rows[0]!.bytes }
}

/** Returns the processor time that a server and its child processes have used so far. */
function serverCpuSeconds(serverPid: number): number {
  let ticks = 0
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = readStat(pid)
    if (pid !== String(serverPid) && fields[PARENT_FIELD] !== String(serverPid)) continue
    for (const each of fields.slice(CPU_FIELD, CPU_FIELD + 4)) ticks += Number(each)
  }
  return ticks / TICKS_PER_SECOND
}

/** Returns the fields after the name, which may contain spaces, or none if the process is gone. */
function readStat(pid: string): string[] {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return line.slice(line.lastIndexOf(')') + 2).split(' ')
  } catch {
    return []
  }
}
