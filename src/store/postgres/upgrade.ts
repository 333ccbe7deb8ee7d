/** Brings the tables of a store up to this release. */

import { type Database, openDatabase } from './database/database.ts'
import { applyPostgresMigrations, hasTables, SCHEMA_PARTS } from './database/migrate.ts'

/** True where the current schema holds a store. */
export function postgresStoreExists(url: string): Promise<boolean> {
  return withDatabase(url, hasTables)
}

/** Runs what is pending, the facts first; with `plan` runs nothing. `report` hears what it waits for. Returns the migrations, as in `facts/0002-name.sql`. */
export function migratePostgresStore(url: string, plan: boolean, report: (message: string) => void): Promise<string[]> {
  return withDatabase(url, async (database) => {
    const done: string[] = []
    for (const [part, folder] of SCHEMA_PARTS)
      for (const { name } of await applyPostgresMigrations(database, part, folder, { plan, report }))
        done.push(`${part}/${name}`)
    return done
  })
}

async function withDatabase<Result>(url: string, work: (database: Database) => Promise<Result>): Promise<Result> {
  const database = await openDatabase(url, { pool: 2, applicationName: 'domaindex' })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
