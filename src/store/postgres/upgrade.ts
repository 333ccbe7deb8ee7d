/** Migrates the tables of a store to this release. */

import { type Database, openDatabase } from './database/database.ts'
import { DISTRIBUTION_STEP, distributeTables, removeFormerRows, undistributedTables } from './database/distribution.ts'
import { applyPostgresMigrations, hasTables, SCHEMA_PARTS } from './database/migrate.ts'

/** Whether the current schema contains a store. */
export function postgresStoreExists(url: string): Promise<boolean> {
  return withDatabase(url, hasTables)
}

/**
 * Runs the pending migrations, the facts first, and distributes the tables if the database has Citus. With `plan` it
 * changes nothing. `report` receives what a migration waits for. Returns the names of the migrations, as in
 * `facts/0002-schedule.sql`, and of the distribution.
 */
export function migratePostgresStore(url: string, plan: boolean, report: (message: string) => void): Promise<string[]> {
  return withDatabase(url, async (database) => {
    const done: string[] = []
    for (const [part, folder] of SCHEMA_PARTS)
      for (const { name } of await applyPostgresMigrations(database, part, folder, { plan, report }))
        done.push(`${part}/${name}`)
    const tables = await undistributedTables(database)
    if (tables.length === 0) return done
    if (!plan) await distribute(database, tables)
    return [...done, DISTRIBUTION_STEP]
  })
}

/** In one transaction, so that the tables of a store are always all distributed or none. */
async function distribute({ transactionOnce }: Database, tables: readonly string[]): Promise<void> {
  await transactionOnce((session) => distributeTables(session, tables))
  await transactionOnce((session) => removeFormerRows(session, tables))
}

async function withDatabase<Result>(url: string, work: (database: Database) => Promise<Result>): Promise<Result> {
  const database = await openDatabase(url, { pool: 2, applicationName: 'domaindex' })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
