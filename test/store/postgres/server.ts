/**
 * The PostgreSQL of the test files of one process: from the npm package, or the one that DOMAINDEX_TEST_POSTGRES names.
 * Every test gets its own place in it.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { openDatabase } from '../../../src/store/postgres/database/database.ts'
import { applyPostgresMigrations, SCHEMA_PARTS } from '../../../src/store/postgres/database/migrate.ts'
import { takeCluster } from '../../postgres/cluster.ts'
import { findPrograms, type Programs } from '../../postgres/programs.ts'

/** An empty schema or database, as the URL of a store. */
export type Place = { url: string; drop(): Promise<void> }

export type PostgresServer = {
  /** A new schema in the common database. */
  schema(): Promise<Place>
  /** A new database, with the ICU collation of a language (`en-US`) if given. */
  database(language?: string): Promise<Place>
  /** A new database with the tables of an empty store, copied; an empty schema in a server that is not our own. */
  tables(): Promise<Place>
  /** A new copy of a database created by `database` that has no connections. */
  copy(of: Place): Promise<Place>
  /** Kills the server and starts it again with its data. Throws if it is not our own server. */
  restart(): Promise<void>
}

/** PostgreSQL refuses to run as root, so user nobody runs it. */
const NOBODY = 65_534
const OWNER = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
const DEADLOCK = '40P01'
const MAX_TRIES = 10
/** Data need not survive a crash of the machine. Many test processes need many connections. */
const SETTINGS = [
  'listen_addresses=',
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'shared_buffers=64MB',
  'max_connections=200',
  'autovacuum=off',
  'max_wal_size=1GB',
]
/**
 * Runs the server until its input receives a line or is closed, also by the death of the tests. Then it stops the
 * server. In the second case it also removes the folder.
 */
const WATCH =
  'folder=$1; shift; "$@" & if read -r _; then kill -QUIT $!; wait; else kill -QUIT $!; wait; rm -rf "$folder"; fi'

const given = process.env.DOMAINDEX_TEST_POSTGRES
const programs = given ? null : findPrograms()
let server: Promise<PostgresServer> | undefined
let end = async (): Promise<void> => {}

// Not a hook of node:test, which would end the server with the first of several files that share this process.
process.once('beforeExit', () => end())

/** Why PostgreSQL is not available, for the `skip` of a test, or false if it is. */
export const noPostgres: string | false =
  programs !== null && 'missing' in programs
    ? `${programs.missing}: name an empty database with DOMAINDEX_TEST_POSTGRES`
    : false

/** The same for databases with other collations, which are created only on our own server. */
export const noOtherCollation: string | false = given
  ? 'the database that is given has the collation it has'
  : noPostgres

/** The server of this process. It starts on first use and ends after all tests. */
export function postgresServer(): Promise<PostgresServer> {
  server ??= given ? Promise.resolve(serverAt(given, null)) : start()
  return server
}

async function start(): Promise<PostgresServer> {
  const { initdb, postgres } = programs as Programs
  const folder = mkdtempSync(join(tmpdir(), 'domaindex-postgres-'))
  chmodSync(folder, 0o755)
  if (OWNER.uid !== undefined) chownSync(folder, OWNER.uid, OWNER.gid)
  const data = join(folder, 'data')
  takeCluster(initdb, data, OWNER)
  const settings = SETTINGS.flatMap((setting) => ['-c', setting])
  const command = [postgres, '-D', data, '-k', folder, ...settings]
  let running = await watched(folder, command)
  end = async () => {
    running.stdin!.end()
    await once(running, 'exit')
  }
  const restart = async (): Promise<void> => {
    running.stdin!.end('\n')
    await once(running, 'exit')
    running = await watched(folder, command)
  }
  return serverAt(`postgres://domaindex:not-asked-for@localhost/postgres?host=${folder}`, restart)
}

/** Resolves when the server accepts connections. */
async function watched(folder: string, command: string[]): Promise<ChildProcess> {
  const child = spawn('sh', ['-c', WATCH, 'sh', folder, ...command], {
    ...OWNER,
    cwd: folder,
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let output = ''
  const isReady = new Promise<void>((resolve, reject) => {
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-10_000)
      if (/ready to accept connections/.test(output)) resolve()
    })
    child.on('exit', () => reject(new Error(`PostgreSQL ended: ${output}`)))
  })
  await isReady
  child.unref()
  for (const stream of [child.stdin, child.stderr]) (stream as unknown as { unref(): void }).unref()
  return child
}

function serverAt(url: string, restart: (() => Promise<void>) | null): PostgresServer {
  let places = 0
  const nextName = (): string => `test_${process.pid}_${Date.now().toString(36)}_${++places}`
  const schema = async (): Promise<Place> => {
    const name = nextName()
    await run(url, `create schema ${name}`)
    const place = new URL(url)
    place.searchParams.set('options', `-csearch_path=${name}`)
    return { url: place.href, drop: () => run(url, `drop schema ${name} cascade`) }
  }
  const database = async (language?: string): Promise<Place> => {
    const name = nextName()
    const collation = language ? `locale_provider icu icu_locale '${language}' locale 'C'` : ''
    await run(url, `create database ${name} template template0 encoding 'UTF8' ${collation}`)
    return databasePlace(url, name)
  }
  const copy = async ({ url: of }: Place): Promise<Place> => {
    const name = nextName()
    // the default strategy writes each page to the log, and takes half as long again
    await run(url, `create database ${name} template ${new URL(of).pathname.slice(1)} strategy file_copy`)
    return databasePlace(url, name)
  }
  let template: Promise<Place> | undefined
  return {
    schema,
    database,
    copy,
    async tables() {
      if (restart === null) return schema()
      template ??= database().then(createTables)
      return copy(await template)
    },
    async restart() {
      if (restart === null) throw new Error('the server is not ours to restart')
      await restart()
    },
  }
}

/** Applies all migrations, and nothing else that opening a store does: it has no secret and no rows. */
async function createTables(place: Place): Promise<Place> {
  const database = await openDatabase(place.url, { pool: 1, applicationName: 'test' })
  for (const [part, folder] of SCHEMA_PARTS) await applyPostgresMigrations(database, part, folder)
  await database.close()
  return place
}

function databasePlace(url: string, name: string): Place {
  const place = new URL(url)
  place.pathname = `/${name}`
  place.searchParams.set('options', '-csearch_path=public')
  return { url: place.href, drop: () => run(url, `drop database ${name} with (force)`) }
}

/** Tries again after a deadlock: with Citus, schemas that are created and dropped at once lock the same catalogs. */
async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (let attempt = 1; ; attempt++) {
      const error = await client.query(statement).then(
        () => null,
        (reason) => reason,
      )
      if (error === null) return
      if (error.code !== DEADLOCK || attempt === MAX_TRIES) throw error
    }
  } finally {
    await client.end()
  }
}
