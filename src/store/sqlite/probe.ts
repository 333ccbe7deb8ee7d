/** Whether the files give what the calls of the API ask of them: to be read, and the ledger to be written. */

import type { DatabaseSync } from 'node:sqlite'
import type { Day } from '../../values/time.ts'
import type { Ledger } from '../port/ledger.ts'
import type { ProbedLedger } from './ledger/writing/write-probe.ts'

const NO_ACCOUNT = 0
const NO_DAY = '' as Day

/** Throws what hinders. A budget of nobody has nothing to give back: the ledger is opened for writing, and nothing is written unless there is doubt. */
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
