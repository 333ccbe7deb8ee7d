/** Migrates the tables of a store to this release. */

import { type Database, openDatabase } from './database/database.ts'
import { applyPostgresMigrations, hasTables, SCHEMA_PARTS } from './database/migrate.ts'

/** Whether the current schema contains a store. */
export function postgresStoreExists(url: string): Promise<boolean> {
  return withDatabase(url, hasTables)
}

/**
 * Runs the pending migrations, the facts first; with `plan` runs none. `report` receives what a migration waits for.
 * Returns their names, as in `facts/0002-schedule.sql`.
 */
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
