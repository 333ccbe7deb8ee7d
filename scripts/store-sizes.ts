/**
 * Measures the tables of a real PostgreSQL store of generated names, and prints what stores of 10 million, 300 million
 * and a billion names take: the tables of docs/scaling.md. `--names N`: how many names the measured store has.
 */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { makeTemporaryFolder, measureCommand, stopProcess } from '../bench/measure/process.ts'
import { machine } from '../bench/measure/report.ts'
import { writeObservations } from '../bench/world/observation-files.ts'
import { connectionConfig, startPostgresServer } from '../bench/world/postgres.ts'
import { firstProbeRound, nextProbeRound, type ProbeRound, type World } from '../bench/world/world.ts'
import { type MeasuredStore, planTable, type StoredTable, sizeTable } from './store-sizes/projection.ts'

/** The share of names that moved to other addresses in the third round. */
const CHANGED_SHARE = 0.1

const TABLES_QUERY = `select relname as name, reltuples::float8 as rows, pg_table_size(oid)::float8 as "tableBytes",
    pg_indexes_size(oid)::float8 as "indexBytes"
  from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`
const LOG_QUERY = `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes`

const { values } = parseArgs({ options: { names: { type: 'string', default: '100000' } } })
const world: World = { seed: 1, names: Number(values.names), text: true }
const folder = makeTemporaryFolder()
const { running, socket } = await startPostgresServer(folder)
const DOMAINDEX_STORE = `postgres://bench@localhost/domaindex?host=${socket}`
const env = { DOMAINDEX_STORE, DOMAINDEX_FILES: join(folder, 'files') }
try {
  await query('create database domaindex', 'postgres')
  const measured = await measureStore()
  console.log(`${sizeTable(measured)}\n\n${planTable(measured)}`)
  const { names: _names, tables: _tables, ...rates } = measured
  console.error(JSON.stringify(rates))
  console.error(`\n${world.names.toLocaleString('en')} names, seed ${world.seed}; ${machine()}, PostgreSQL on the same`)
} finally {
  await stopProcess(running)
  rmSync(folder, { recursive: true })
}

/** Probes every name three times, indexes the pages and builds both snapshots. */
async function measureStore(): Promise<MeasuredStore> {
  const first = firstProbeRound()
  const second = nextProbeRound(first)
  const changed = { ...nextProbeRound(second), generation: 1, changedShare: CHANGED_SHARE }
  const created = await importRound(first)
  await importRound(second)
  await query('vacuum (analyze)') // between two probes of a name, a month passes
  const crawled = await importRound(changed)
  const index = await measureCommand(['index'], { env })
  const snapshot = await measureCommand(['build', 'snapshot'], { env })
  await query('vacuum (analyze)')
  const tables = await query<StoredTable>(TABLES_QUERY)
  const pages = tables.find(({ name }) => name === 'page_document')!.rows
  return {
    names: world.names,
    tables,
    createdPerSecond: world.names / created.seconds,
    crawledPerSecond: world.names / crawled.seconds,
    crawledLogBytes: crawled.logBytes / world.names,
    indexedPerSecond: pages / index.seconds,
    snapshotPerSecond: world.names / snapshot.seconds,
  }
}

/** Imports a round of probes. `logBytes`: the write-ahead log that it caused, with the images of whole pages. */
async function importRound(round: ProbeRound): Promise<{ seconds: number; logBytes: number }> {
  const path = join(folder, 'round.jsonl')
  writeObservations(path, world, round, 'slot')
  const [before] = await query<{ bytes: number }>(LOG_QUERY)
  const { seconds } = await measureCommand(['import', path], { env })
  const [after] = await query<{ bytes: number }>(LOG_QUERY)
  rmSync(path)
  return { seconds, logBytes: after!.bytes - before!.bytes }
}

async function query<Row extends object>(text: string, database = 'domaindex'): Promise<Row[]> {
  const client = new pg.Client({ ...connectionConfig(socket), database })
  await client.connect()
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}
