/** The units of all leases of an account's day, read from the tables without the ledger. */

import { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import type { Day } from '../../../src/values/time.ts'

export type LeasedUnits = (account: number, day: Day) => Promise<number>

const SUM = 'select coalesce(sum(units), 0) as units from token_lease where account = $1 and day = $2'

/** `path`: the ledger's file. */
export function sqliteLeasedUnits(path: string): LeasedUnits {
  return async (account, day) => {
    const database = new DatabaseSync(path, { readOnly: true })
    const row = database.prepare(SUM).get({ $1: account, $2: day })
    database.close()
    return row!.units as number
  }
}

export function postgresLeasedUnits(client: pg.Client): LeasedUnits {
  return async (account, day) => Number((await client.query(SUM, [account, day])).rows[0].units)
}
