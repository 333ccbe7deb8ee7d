/** Whether the ledger can be written, which every call of the API needs: known from the writes, and tried where there is doubt. */

import { causeAt } from '../../disk.ts'
import { isOfDisk } from '../../fault.ts'
import type { Write } from './calls.ts'

export type Writable = {
  /** Throws if the ledger cannot be written. Writes only if the last write failed, or its disk looks as if the next one would. */
  prove(): Promise<void>
}

/** `write`, watched; `path`: that of the ledger. */
export function proving(path: string, write: Write): { write: Write } & Writable {
  let isDoubtful = false
  const watched: Write = async (method, values, now) => {
    try {
      const value = await write(method, values, now)
      isDoubtful = false
      return value
    } catch (error) {
      if (isOfDisk(error)) isDoubtful = true
      throw error
    }
  }
  return {
    write: watched,
    async prove() {
      if (isDoubtful || causeAt(path) !== null) await watched('prove', [])
    },
  }
}
