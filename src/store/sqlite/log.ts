/** The write-ahead log of the facts: written back by the writer, and bounded where a long reader keeps it from that. */

import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFull } from '../fault.ts'
import { logBytes } from './connection.ts'

/** Past this, a writer waits for the reader that holds the log (a backup) rather than fill the disk. */
const MOST_BYTES = 4 * 2 ** 30
const WAIT_MILLISECONDS = 200

export type Log = {
  /** Runs a write; before it, waits while the log is over its bound. */
  bounded<Result>(write: () => Result): Promise<Result>
  /** Writes everything back and makes it durable; on a full disk it stays in the log, which is durable as well. */
  end(): void
}

export function logOf(database: DatabaseSync, path: string, most = MOST_BYTES): Log {
  const flush = (): void => {
    database.exec('pragma wal_checkpoint(truncate)')
  }
  return {
    async bounded(write) {
      while (logBytes(path) > most) {
        flush()
        if (logBytes(path) > most) await sleep(WAIT_MILLISECONDS)
      }
      return write()
    },
    end() {
      try {
        flush()
      } catch (error) {
        if (!isFull(error)) throw error
      }
    },
  }
}
