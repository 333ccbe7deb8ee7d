/** The check of the ledger's rows. */

import { LEDGER_FINDINGS, LEDGER_ROWS, ledgerFaults } from '../../check/ledger.ts'
import type { Slice } from '../../check/slice.ts'
import type { Session } from '../writer.ts'

export async function checkLedger({ rows }: Session): Promise<Slice> {
  const [counts, ...found] = await Promise.all([
    rows<{ rows: number }>(LEDGER_ROWS),
    ...LEDGER_FINDINGS.map(async (finding) => ledgerFaults(finding, await rows<{ place: number }>(finding))),
  ])
  return { faults: found.flat(), checked: counts[0]!.rows, last: null }
}
