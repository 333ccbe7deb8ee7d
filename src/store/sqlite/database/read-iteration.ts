/** One read transaction per iteration of the event loop, for a process that only reads. */

import type { DatabaseSync } from 'node:sqlite'

/** Called before each read. The first one in an iteration begins the transaction. */
export type BeginRead = () => void

/**
 * All reads of one iteration share the locks of one transaction, which takes about a third off a look-up. They see the
 * same moment, and those of the next iteration see a new one.
 */
export function iterationReads(database: DatabaseSync): BeginRead {
  let isOpen = false
  // a commit would fail again if a read of the iteration found a damaged page
  const end = (): void => {
    isOpen = false
    if (database.isOpen && database.isTransaction) database.exec('rollback')
  }
  return () => {
    if (isOpen) return
    database.exec('begin')
    isOpen = true
    setImmediate(end)
  }
}
