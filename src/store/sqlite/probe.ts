/** Checks that API calls can use the files: read both, and write the ledger. */

import type { DatabaseSync } from 'node:sqlite'
import type { Day } from '../../values/time.ts'
import type { Ledger } from '../port/ledger.ts'
import type { ProbedLedger } from './ledger/writing/write-probe.ts'

const NO_ACCOUNT = 0
const NO_DAY = '' as Day

/**
 * Throws if calls would fail. A refund to a nonexistent account opens the ledger for writing, but writes nothing unless
 * a fault is suspected.
 */
export function sqliteProbe(
  database: DatabaseSync,
  ledger: Pick<Ledger, 'usedUnits' | 'refundUnit'> & ProbedLedger,
): () => Promise<void> {
  const facts = database.prepare('select 1 from crawl_state v join facts f on f.id = v.id limit 1')
  return async () => {
    facts.get()
    await ledger.usedUnits(NO_ACCOUNT, NO_DAY)
    await ledger.refundUnit(NO_ACCOUNT, NO_DAY)
    await ledger.requireWritable()
  }
}
