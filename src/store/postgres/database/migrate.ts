/**
 * Migrations of a database: numbered SQL files in two folders. Each runs once, in order, and is recorded with its
 * digest.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { StoreFault, StoreUnavailableFault } from '../../port/fault.ts'
import {
  developmentStoreFault,
  type Migration,
  migrationFault,
  readMigrations,
  unappliedMigrations,
} from '../../shared/migrations.ts'
import { CREATE_COMMIT_MARKERS } from './commit-marker.ts'
import type { Database } from './database.ts'
import { distributeTables, undistributedTables } from './distribution.ts'
import { isLocked } from './errors.ts'
import type { Session, TransactionWork } from './transaction.ts'

/** The parts of the schema. Each has its own folder of migrations. */
export type SchemaPart = 'facts' | 'ledger'

export const SCHEMA_PARTS: readonly (readonly [SchemaPart, URL])[] = [
  ['facts', new URL('../schema/facts/', import.meta.url)],
  ['ledger', new URL('../schema/ledger/', import.meta.url)],
]

/**
 * Other processes wait at most this long for a migration's lock request, then run for two seconds; five minutes in all.
 */
const SHORT_LOCK_TIMEOUT = `set local lock_timeout = '300ms'`
const MIGRATION_RETRY_MS = 2_000
const LOCKED_MESSAGE =
  'other processes use its tables for too long: end them (pg_stat_activity lists statements and transactions that are open for minutes)'

/** Only one process changes the schema at a time. */
export const MIGRATION_LOCK = {
  name: 'migrate.lock',
  text: `select pg_advisory_xact_lock(hashtext('domaindex ' || current_schema()))`,
}
const CHECK_MIGRATION_TABLE = {
  name: 'migrate.there',
  text: `select array_to_json(array(select attname::text from pg_attribute where attnum > 0 and not attisdropped
      and attrelid = to_regclass(quote_ident(current_schema()) || '.migration')))::text as columns`,
}
/** A column of the table in this release, and the one that development versions before 0.1.0 had in its place. */
const [PART_COLUMN, FORMER_PART_COLUMN] = ['schema_part', 'part']
const READ_APPLIED = {
  name: 'migrate.applied',
  text: 'select number, name, checksum from migration where schema_part = $1 order by number',
}
const READ_PARTS = { name: 'migrate.parts', text: 'select distinct schema_part as part from migration' }
const INSERT_MIGRATION = {
  name: 'migrate.note',
  text: `insert into migration (schema_part, number, name, checksum, applied_at) values ($1, $2, $3, $4, to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS'))`,
}
const CREATE_MIGRATION_TABLE = `create table if not exists migration (
  schema_part text collate "C" not null, number integer not null, name text not null, checksum text not null,
  applied_at text not null, primary key (schema_part, number));
  ${CREATE_COMMIT_MARKERS}`

/** Whether any migration was applied. Throws StoreFault if the table of migrations is not this program's. */
export async function hasTables({ read }: Pick<Database, 'read'>): Promise<boolean> {
  const [row] = await read<{ columns: string }>(CHECK_MIGRATION_TABLE)
  const columns: string[] = JSON.parse(row!.columns)
  if (columns.length === 0 || columns.includes(PART_COLUMN)) return columns.length > 0
  if (columns.includes(FORMER_PART_COLUMN) && columns.includes('checksum'))
    throw developmentStoreFault("the store's table migration differs from this release's")
  throw new StoreFault(
    'the table migration is of another program: use a separate database, or a separate schema with ?options=-csearch_path=NAME',
  )
}

/**
 * The migrations that the database lacks. Throws StoreFault if it is newer than this release or has a different
 * history.
 */
export async function pendingPostgresMigrations(
  database: Pick<Database, 'read'>,
  part: SchemaPart,
  folder: URL,
): Promise<Migration[]> {
  const applied = (await hasTables(database)) ? await database.read<Migration>(READ_APPLIED, [part]) : []
  return unappliedMigrations(readMigrations(folder), applied)
}

/** The parts of the schema that a database lacks entirely. */
export async function missingSchemaParts(database: Pick<Database, 'read'>): Promise<SchemaPart[]> {
  const applied = (await hasTables(database)) ? await database.read<{ part: SchemaPart }>(READ_PARTS) : []
  return SCHEMA_PARTS.map(([part]) => part).filter((part) => !applied.some((present) => present.part === part))
}

/**
 * Creates the parts of the schema that a database lacks, runs `complete`, and distributes the tables if the database
 * has Citus, in one transaction: if the process is killed, nothing is created. Does nothing if another process has done the same. Throws StoreFault.
 */
export async function createPostgresSchema(database: Database, complete: TransactionWork<void>): Promise<void> {
  await database.transactionOnce(async (session) => {
    await session.rows(MIGRATION_LOCK)
    await session.script(CREATE_MIGRATION_TABLE)
    const missing = await missingSchemaParts({ read: session.rows })
    for (const [part, folder] of SCHEMA_PARTS)
      if (missing.includes(part))
        for (const migration of readMigrations(folder)) await runMigration(session, part, migration)
    if (missing.length === 0) return
    await complete(session)
    await distributeTables(session, await undistributedTables({ read: session.rows, hasCitus: database.hasCitus }))
  })
}

/** How a migration waits for locks. `report` receives each failed attempt. */
type MigrationRetry = { tries: number; wait: () => Promise<unknown>; report: (message: string) => void }

const DEFAULT_MIGRATION_RETRY: MigrationRetry = { tries: 150, wait: () => sleep(MIGRATION_RETRY_MS), report: () => {} }

/**
 * Applies the pending migrations, each in a transaction of its own, and returns them. With `plan` it only returns them.
 * Throws StoreFault.
 */
export async function applyPostgresMigrations(
  database: Database,
  part: SchemaPart,
  folder: URL,
  { plan = false, ...retry }: Partial<MigrationRetry> & { plan?: boolean } = {},
): Promise<Migration[]> {
  const pending = await pendingPostgresMigrations(database, part, folder)
  if (!plan)
    for (const migration of pending)
      await applyWithRetry(database, part, migration, { ...DEFAULT_MIGRATION_RETRY, ...retry })
  return pending
}

/**
 * All processes that use a table wait behind a migration that waits for it. So it stops waiting soon, lets them run,
 * and retries.
 */
async function applyWithRetry(
  database: Database,
  part: SchemaPart,
  migration: Migration,
  { tries, wait, report }: MigrationRetry,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await applyOnce(database, part, migration)
    } catch (error) {
      if (!isLocked(error) || attempt >= tries) throw migrationError(part, migration, error)
      report(
        `${part}/${migration.name} waits for other processes that use its tables, retrying (${attempt} of ${tries})`,
      )
      await wait()
    }
  }
}

async function applyOnce(database: Database, part: SchemaPart, migration: Migration): Promise<void> {
  await database.transactionOnce(async (session) => {
    await session.script(SHORT_LOCK_TIMEOUT)
    await session.rows(MIGRATION_LOCK)
    await session.script(CREATE_MIGRATION_TABLE)
    const applied = await session.rows<Migration>(READ_APPLIED, [part])
    const isApplied = applied.some(({ number }) => number === migration.number) // by another process
    if (!isApplied) await runMigration(session, part, migration)
  })
}

/** Text in quotes, text between dollar signs and comments, in which a semicolon ends no statement; or a semicolon. */
const SQL_PIECES = /'[^']*'|"[^"]*"|--[^\n]*|\$(\w*)\$[\s\S]*?\$\1\$|;/g

/** The statements of a script. Citus rejects `create index` on a distributed table if others are sent with it. */
export function sqlStatements(script: string): string[] {
  const ends = [...script.matchAll(SQL_PIECES)].filter(([piece]) => piece === ';').map(({ index }) => index + 1)
  const statements = [...ends, script.length].map((end, index) => script.slice(ends[index - 1] ?? 0, end))
  return statements.filter((statement) => statement.replaceAll(/--[^\n]*/g, '').trim() !== '')
}

async function runMigration(session: Session, part: SchemaPart, migration: Migration): Promise<void> {
  const { number, name, checksum, sql } = migration
  for (const statement of sqlStatements(sql)) await session.script(statement)
  await session.run(INSERT_MIGRATION, [part, number, name, checksum])
}

function migrationError(part: SchemaPart, migration: Migration, error: unknown): unknown {
  if (error instanceof StoreUnavailableFault) return error
  const { message, cause } = error as Error
  const reason = cause instanceof Error ? `${cause.message} (${message})` : message
  return migrationFault(part, migration, isLocked(error) ? LOCKED_MESSAGE : reason, error)
}
