/** Migrations of a SQLite file: numbered SQL files, each run once, in order, and remembered with its digest. */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { StoreFault } from '../fault.ts'
import { transaction } from './connection.ts'

export type Migration = { number: number; name: string; checksum: string; sql: string }

/** The migrations of a folder, ascending. */
export function migrations(folder: URL): Migration[] {
  return readdirSync(folder)
    .filter((file) => /^\d{4}-.*\.sql$/.test(file))
    .sort()
    .map((file) => {
      const sql = readFileSync(new URL(file, folder), 'utf8')
      return {
        number: Number(file.slice(0, 4)),
        name: file,
        checksum: createHash('sha256').update(sql).digest('hex'),
        sql,
      }
    })
}

/** Those that a file still lacks. Throws StoreFault where the file is newer than this release, or has another past. */
export function pending(database: DatabaseSync, folder: URL): Migration[] {
  const known = migrations(folder)
  const applied = appliedTo(database)
  for (const { number, name, checksum } of applied) {
    const ours = known.find((migration) => migration.number === number)
    if (!ours)
      throw new StoreFault(`the store has migration ${name}, which this release does not know: run a newer domaindex`)
    if (ours.checksum !== checksum)
      throw new StoreFault(
        `the store's migration ${name} differs from this release's: run the release that made the store`,
      )
  }
  return known.filter(({ number }) => !applied.some((migration) => migration.number === number))
}

/** Applies what is pending, each in a transaction of its own, and returns it; with `plan` only returns it. */
export function migrate(database: DatabaseSync, folder: URL, plan = false): Migration[] {
  const todo = pending(database, folder)
  if (plan) return todo
  for (const migration of todo) {
    transaction(database, () => {
      database.exec(
        'create table if not exists migration (number integer primary key, name text not null, checksum text not null, applied text not null) strict',
      )
      const done = database.prepare('select 1 from migration where number = ?').get(migration.number)
      if (done) return
      database.exec(migration.sql)
      database
        .prepare(`insert into migration values (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%S', 'now'))`)
        .run(migration.number, migration.name, migration.checksum)
    })
  }
  return todo
}

function appliedTo(database: DatabaseSync): { number: number; name: string; checksum: string }[] {
  const there = database.prepare(`select 1 from sqlite_schema where name = 'migration'`).get()
  if (!there) return []
  return database.prepare('select number, name, checksum from migration order by number').all() as never
}
