/** Checks the ledger's rows. */

import { LEDGER_FINDING_QUERIES, LEDGER_ROWS, ledgerFaults } from '../../../shared/check/ledger.ts'
import type { CheckSlice } from '../../../shared/check/slice.ts'
import type { Session } from '../../database/transaction.ts'

export async function checkLedgerPostgres({ rows }: Session): Promise<CheckSlice> {
  const [counts, ...found] = await Promise.all([
    rows<{ rows: number }>(LEDGER_ROWS),
    ...LEDGER_FINDING_QUERIES.map(async (finding) => ledgerFaults(finding, await rows<{ place: number }>(finding))),
  ])
  return { faults: found.flat(), checked: counts[0]!.rows, last: null }
}
