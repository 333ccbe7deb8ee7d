/** The PostgreSQL ledger under the conformance suite. Each ledger has its own connections, as every process has. */

import { test } from 'node:test'
import pg from 'pg'
import { openDatabase } from '../../../src/store/postgres/database/database.ts'
import { applyPostgresMigrations } from '../../../src/store/postgres/database/migrate.ts'
import { openPostgresLedger, POSTGRES_LEDGER_SCHEMA } from '../../../src/store/postgres/ledger/ledger.ts'
import { noPostgres, postgresServer } from '../postgres/server.ts'
import type { LedgerEngine } from './engine.ts'
import { postgresLeasedUnits } from './leased-units.ts'
import { ledgerConformance } from './suite.ts'

const engine: LedgerEngine = {
  name: 'PostgreSQL',
  runs: 20,
  async open(clock, secret) {
    const server = await postgresServer()
    const { url, drop } = await server.tables()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const opened: { close(): Promise<void> }[] = [{ close: () => client.end() }]
    const close = async (): Promise<void> => {
      for (const each of opened.toReversed()) await each.close()
      await drop()
    }
    const another = async () => {
      const database = await openDatabase(url, { pool: 2, applicationName: 'test' })
      opened.push(database)
      await applyPostgresMigrations(database, 'ledger', POSTGRES_LEDGER_SCHEMA)
      const ledger = await openPostgresLedger(database, { secret, now: () => clock.now })
      opened.push(ledger)
      return ledger
    }
    try {
      return { ledger: await another(), another, leasedUnits: postgresLeasedUnits(client), close }
    } catch (error) {
      await close()
      throw error
    }
  },
}

if (noPostgres) test('the ledger on PostgreSQL', { skip: noPostgres })
else {
  await postgresServer() // for the whole file
  ledgerConformance(engine)
}
