/** Migrates the tables of a store to this release. */

import { StoreFault } from '../port/fault.ts'
import { type Database, openDatabase } from './database/database.ts'
import { DISTRIBUTION_STEP, distributeTables, removeFormerRows, undistributedTables } from './database/distribution.ts'
import { applyPostgresMigrations, hasTables, MIGRATION_LOCK, SCHEMA_PARTS } from './database/migrate.ts'

/** Whether the current schema contains a store. `maxSilence`: milliseconds that the server may be silent. */
export function postgresStoreExists(url: string, maxSilence?: number): Promise<boolean> {
  return withDatabase(url, hasTables, maxSilence)
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
    if ((await undistributedTables(database)).length > 0) {
      if (!plan) await distribute(database)
      done.push(DISTRIBUTION_STEP)
    }
    if (!plan && database.hasCitus) await removeFormerRows(database)
    return done
  })
}

/**
 * In one transaction, so that the tables of a store are always all distributed or none. Does nothing if another process
 * has done the same.
 */
async function distribute({ transactionOnce, hasCitus }: Database): Promise<void> {
  const distributed = transactionOnce(async (session) => {
    await session.rows(MIGRATION_LOCK)
    await distributeTables(session, await undistributedTables({ read: session.rows, hasCitus }))
  })
  await distributed.catch((error: Error) => {
    if (error instanceof StoreFault) throw error
    throw new StoreFault(
      `${DISTRIBUTION_STEP} failed: ${error.message}; it was rolled back: check that all workers run, then run domaindex migrate again`,
      { cause: error },
    )
  })
}

async function withDatabase<Result>(
  url: string,
  work: (database: Database) => Promise<Result>,
  maxSilence?: number,
): Promise<Result> {
  const database = await openDatabase(url, { pool: 2, applicationName: 'domaindex', maxSilence })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
