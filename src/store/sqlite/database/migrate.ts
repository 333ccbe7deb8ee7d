/** Migrations of a SQLite file: numbered SQL files. Each runs once, in order, and is recorded with its digest. */

import { basename } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Migration, migrationFault, readMigrations, unappliedMigrations } from '../../shared/migrations.ts'
import { writeTransaction } from './connection.ts'
import { sqliteMessageOf } from './errors.ts'

export const SQLITE_FACTS_SCHEMA = new URL('../schema/facts/', import.meta.url)

/**
 * The migrations that a file lacks. Throws StoreFault if the file is newer than this release or has a different
 * history.
 */
export function pendingSqliteMigrations(database: DatabaseSync, folder: URL): Migration[] {
  return unappliedMigrations(readMigrations(folder), appliedMigrations(database))
}

/**
 * Applies the pending migrations, each in a transaction of its own, and returns them. With `plan` it only returns them.
 * Throws StoreFault.
 */
export function applySqliteMigrations(database: DatabaseSync, folder: URL, plan = false): Migration[] {
  const pending = pendingSqliteMigrations(database, folder)
  if (plan) return pending
  for (const migration of pending) {
    try {
      applyMigration(database, migration)
    } catch (error) {
      throw migrationFault(
        basename(folder.pathname),
        migration,
        sqliteMessageOf(error) ?? (error as Error).message,
        error,
      )
    }
  }
  return pending
}

/**
 * Applies all migrations to an empty file, and runs `complete`, in one transaction: if the process is killed, the file
 * stays empty. Does nothing if another process has done the same.
 */
export function createSqliteSchema(database: DatabaseSync, folder: URL, complete: () => void): void {
  writeTransaction(database, () => {
    if (!isEmptySqliteFile(database)) return
    for (const migration of readMigrations(folder)) runMigration(database, migration)
    complete()
  })
}

/** Whether a file has no schema yet. */
export function isEmptySqliteFile(database: DatabaseSync): boolean {
  return appliedMigrations(database).length === 0
}

/** Whether a later release has expanded the file. */
export function hasLaterMigration(database: DatabaseSync, folder: URL): boolean {
  const last = readMigrations(folder).at(-1)!.number
  return appliedMigrations(database).some(({ number }) => number > last)
}

function applyMigration(database: DatabaseSync, migration: Migration): void {
  writeTransaction(database, () => {
    const isApplied = appliedMigrations(database).some(({ number }) => number === migration.number)
    if (!isApplied) runMigration(database, migration)
  })
}

/** Runs in the transaction of the caller. */
function runMigration(database: DatabaseSync, { number, name, checksum, sql }: Migration): void {
  database.exec(
    'create table if not exists migration (number integer primary key, name text not null, checksum text not null, applied_at text not null) strict',
  )
  database.exec(sql)
  database
    .prepare(
      `insert into migration (number, name, checksum, applied_at) values (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%S', 'now'))`,
    )
    .run(number, name, checksum)
}

function appliedMigrations(database: DatabaseSync): Omit<Migration, 'sql'>[] {
  const exists = database.prepare(`select 1 from sqlite_schema where name = 'migration'`).get()
  if (!exists) return []
  return database.prepare('select number, name, checksum from migration order by number').all() as never
}
