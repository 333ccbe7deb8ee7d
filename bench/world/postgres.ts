/** A PostgreSQL of its own for the yardsticks: made, started with settings fit for the machine, filled, ended. */

import { chmodSync, chownSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { findPrograms } from '../../test/postgres/programs.ts'
import { hears, run, type Started, start } from '../measure/process.ts'
import { COPIES, INDEXES, TABLES } from '../serve/express-schema.ts'
import type { World } from './world.ts'

/** `socket`: the folder of its socket, which is all it listens on. */
export type Postgres = { started: Started; socket: string }

/** PostgreSQL refuses to run as root: nobody runs it then. */
const NOBODY = 65_534
const SETTINGS = [
  'shared_buffers=2GB',
  'effective_cache_size=8GB',
  'jit=off',
  'max_wal_size=8GB',
  'random_page_cost=1.1',
  'listen_addresses=',
]

/** Starts it in a folder, made and filled with a world where that is not done yet. */
export async function startPostgres(folder: string, world: World, tokens: readonly string[]): Promise<Postgres> {
  const { isNew, ...postgres } = await startServer(folder)
  if (isNew) await fill(postgres.socket, world, tokens)
  return postgres
}

/** Starts it in a folder; `isNew`: nothing is in it yet. */
export async function startServer(folder: string): Promise<Postgres & { isNew: boolean }> {
  const programs = findPrograms()
  if ('missing' in programs) throw new Error(programs.missing)
  const { initdb, postgres } = programs
  const socket = join(folder, 'postgres')
  const data = join(socket, 'data')
  const uid = process.getuid?.() === 0 ? NOBODY : undefined
  const manner = uid === undefined ? {} : { uid }
  const isNew = !existsSync(data)
  if (isNew) {
    mkdirSync(socket, { recursive: true })
    chmodSync(folder, 0o755)
    if (uid !== undefined) chownSync(socket, uid, uid)
    await run([initdb, '-D', data, '-U', 'bench', '-A', 'trust', '--locale=C', '-E', 'UTF8'], manner)
  }
  const settings = SETTINGS.flatMap((setting) => ['-c', setting])
  const started = start([postgres, '-D', data, '-k', socket, ...settings], manner)
  await hears(started, /ready to accept connections/)
  return { started, socket, isNew }
}

/** How a client reaches it. */
export function connectionTo(socket: string): pg.ClientConfig {
  return { host: socket, user: 'bench', database: 'postgres' }
}

async function fill(socket: string, world: World, tokens: readonly string[]): Promise<void> {
  const client = new pg.Client(connectionTo(socket))
  await client.connect()
  await client.query(TABLES)
  for (const { table, rows } of COPIES(world, tokens)) {
    await pipeline(Readable.from(rows, { objectMode: false }), client.query(copyFrom(`copy ${table} from stdin`)))
  }
  await client.query(INDEXES)
  await client.query('vacuum analyze')
  await client.query('checkpoint')
  await client.end()
}
