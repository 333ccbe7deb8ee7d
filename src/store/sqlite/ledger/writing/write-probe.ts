/** Whether the ledger can be written, which every call of the API needs: known from the writes, and tried where there is doubt. */

import { isDiskError } from '../../../port/fault.ts'
import { writeFailureCause } from '../../../shared/disk.ts'
import type { LedgerWrite } from './calls.ts'

export type ProbedLedger = {
  /** Throws if the ledger cannot be written. Writes only if the last write failed, or its disk looks as if the next one would. */
  requireWritable(): Promise<void>
}

/** `write`, watched; `path`: that of the ledger. */
export function writeProbe(path: string, write: LedgerWrite): { write: LedgerWrite } & ProbedLedger {
  let isDoubtful = false
  const watched: LedgerWrite = async (method, values, now) => {
    try {
      const value = await write(method, values, now)
      isDoubtful = false
      return value
    } catch (error) {
      if (isDiskError(error)) isDoubtful = true
      throw error
    }
  }
  return {
    write: watched,
    async requireWritable() {
      if (isDoubtful || writeFailureCause(path) !== null) await watched('probe', [])
    },
  }
}
