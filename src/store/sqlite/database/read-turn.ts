/** One read transaction per turn of the event loop, for a process that only reads. */

import type { DatabaseSync } from 'node:sqlite'

/** Called before each read. The first one in a turn begins the transaction. */
export type BeginRead = () => void

/**
 * All reads of one turn share the locks of one transaction, which takes about a third off a look-up. They see the same
 * moment, and the next turn sees a new one.
 */
export function readTurns(database: DatabaseSync): BeginRead {
  let isOpen = false
  // a commit would fail again if a read of the turn found a damaged page
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
