/** Migrations of a SQLite file: numbered SQL files, each run once, in order, and remembered with its digest. */

import { basename } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { plainWords } from '../fault.ts'
import { type Migration, migrationFault, migrations, unapplied } from '../migrations.ts'
import { transaction } from './connection.ts'

export const FACTS_SCHEMA = new URL('./schema/facts/', import.meta.url)

/** Those that a file still lacks. Throws StoreFault where the file is newer than this release, or has another past. */
export function pending(database: DatabaseSync, folder: URL): Migration[] {
  return unapplied(migrations(folder), appliedTo(database))
}

/** Applies what is pending, each in a transaction of its own, and returns it; with `plan` only returns it. Throws StoreFault. */
export function migrate(database: DatabaseSync, folder: URL, plan = false): Migration[] {
  const todo = pending(database, folder)
  if (plan) return todo
  for (const migration of todo) {
    try {
      apply(database, migration)
    } catch (error) {
      throw migrationFault(basename(folder.pathname), migration, plainWords(error) ?? (error as Error).message, error)
    }
  }
  return todo
}

/** True if a later release has expanded the file. */
export function hasLater(database: DatabaseSync, folder: URL): boolean {
  const last = migrations(folder).at(-1)!.number
  return appliedTo(database).some(({ number }) => number > last)
}

function apply(database: DatabaseSync, migration: Migration): void {
  transaction(database, () => {
    database.exec(
      'create table if not exists migration (number integer primary key, name text not null, checksum text not null, applied text not null) strict',
    )
    const done = database.prepare('select 1 from migration where number = ?').get(migration.number)
    if (done) return
    database.exec(migration.sql)
    database
      .prepare(
        `insert into migration (number, name, checksum, applied) values (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%S', 'now'))`,
      )
      .run(migration.number, migration.name, migration.checksum)
  })
}

function appliedTo(database: DatabaseSync): Omit<Migration, 'sql'>[] {
  const there = database.prepare(`select 1 from sqlite_schema where name = 'migration'`).get()
  if (!there) return []
  return database.prepare('select number, name, checksum from migration order by number').all() as never
}
