/** A PostgreSQL server for the benches: creates, starts and fills it. */

import { chmodSync, chownSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { findPrograms } from '../../test/postgres/programs.ts'
import { type RunningProcess, runProcess, startProcess, waitForOutput } from '../measure/process.ts'
import { INDEXES, TABLES, tableContents } from '../serve/express-schema.ts'
import type { World } from './world.ts'

/** `socket`: the folder of its socket. The server listens nowhere else. */
export type PostgresServer = { running: RunningProcess; socket: string }

/** PostgreSQL refuses to run as root. The bench then runs it as the user nobody. */
const NOBODY_UID = 65_534
const SETTINGS = [
  'shared_buffers=2GB',
  'effective_cache_size=8GB',
  'jit=off',
  'max_wal_size=8GB',
  'random_page_cost=1.1',
  'listen_addresses=',
]

/** Starts the server in a folder, and fills it with the world if it is new. */
export async function startFilledPostgres(
  folder: string,
  world: World,
  tokens: readonly string[],
): Promise<PostgresServer> {
  const { isNew, ...postgres } = await startPostgresServer(folder)
  if (isNew) await fill(postgres.socket, world, tokens)
  return postgres
}

/** Starts the server in a folder. `isNew`: whether the database is new. */
export async function startPostgresServer(folder: string): Promise<PostgresServer & { isNew: boolean }> {
  const programs = findPrograms()
  if ('missing' in programs) throw new Error(programs.missing)
  const { initdb, postgres } = programs
  const socket = join(folder, 'postgres')
  const data = join(socket, 'data')
  const uid = process.getuid?.() === 0 ? NOBODY_UID : undefined
  const options = uid === undefined ? {} : { uid }
  const isNew = !existsSync(data)
  if (isNew) {
    mkdirSync(socket, { recursive: true })
    chmodSync(folder, 0o755)
    if (uid !== undefined) chownSync(socket, uid, uid)
    await runProcess([initdb, '-D', data, '-U', 'bench', '-A', 'trust', '--locale=C', '-E', 'UTF8'], options)
  }
  const settings = SETTINGS.flatMap((setting) => ['-c', setting])
  const running = startProcess([postgres, '-D', data, '-k', socket, ...settings], options)
  await waitForOutput(running, /ready to accept connections/)
  return { running, socket, isNew }
}

/** Returns the connection settings of a client. */
export function connectionConfig(socket: string): pg.ClientConfig {
  return { host: socket, user: 'bench', database: 'postgres' }
}

async function fill(socket: string, world: World, tokens: readonly string[]): Promise<void> {
  const client = new pg.Client(connectionConfig(socket))
  await client.connect()
  await client.query(TABLES)
  for (const { table, rows } of tableContents(world, tokens)) {
    await pipeline(Readable.from(rows, { objectMode: false }), client.query(copyFrom(`copy ${table} from stdin`)))
  }
  await client.query(INDEXES)
  await client.query('vacuum analyze')
  await client.query('checkpoint')
  await client.end()
}
