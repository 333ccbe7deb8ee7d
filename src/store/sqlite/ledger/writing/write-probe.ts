/** Checks that the ledger is writable, which every API call needs: from the last write, or by a probe if in doubt. */

import { isDiskError, writeFailureCause } from '../../database/errors.ts'
import type { SqliteLedgerWrite } from './calls.ts'

export type ProbedLedger = {
  /**
   * Throws if the ledger is not writable. Writes only if the last write failed or the disk suggests that the next one
   * would fail.
   */
  requireWritable(): Promise<void>
}

/** Monitors `write`. `path`: that of the ledger. */
export function writeProbe(path: string, write: SqliteLedgerWrite): { write: SqliteLedgerWrite } & ProbedLedger {
  let lastWriteFailed = false
  const monitoredWrite: SqliteLedgerWrite = async (method, values, now) => {
    try {
      const value = await write(method, values, now)
      lastWriteFailed = false
      return value
    } catch (error) {
      if (isDiskError(error)) lastWriteFailed = true
      throw error
    }
  }
  return {
    write: monitoredWrite,
    async requireWritable() {
      if (lastWriteFailed || writeFailureCause(path) !== null) await monitoredWrite('probe', [])
    },
  }
}
