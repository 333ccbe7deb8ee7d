/** The write-ahead log of the facts: the writer checkpoints it, and waits if a long reader prevents that. */

import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { walBytes } from './connection.ts'
import { isSqliteDiskFull, toDiskFault } from './errors.ts'

/** Above this size, a writer waits for the reader that holds the log (a backup) instead of filling the disk. */
const MAX_WAL_BYTES = 4 * 2 ** 30
const WAL_WAIT_MS = 200

export type WriteAheadLog = {
  /** Runs a write, after waiting while the log is above its maximum. */
  whenBounded<Result>(write: () => Result): Promise<Result>
  /** Resolves when all commits survive a loss of power: they are in the log, or in the file, which a checkpoint syncs. */
  sync(): Promise<void>
  /** Writes everything back and makes it durable. On a full disk it stays in the log. */
  checkpoint(): void
}

export function writeAheadLogOf(database: DatabaseSync, path: string, maxBytes = MAX_WAL_BYTES): WriteAheadLog {
  const file = database.location() ?? path // SQLite follows a symbolic link, and the log is beside the file itself
  const flush = (): void => {
    try {
      database.exec('pragma wal_checkpoint(truncate)')
    } catch (error) {
      throw toDiskFault(error, path)
    }
  }
  return {
    async whenBounded(write) {
      while (walBytes(file) > maxBytes) {
        flush()
        if (walBytes(file) > maxBytes) await sleep(WAL_WAIT_MS)
      }
      return write()
    },
    async sync() {
      try {
        await syncPath(`${file}-wal`)
        await syncPath(dirname(file)) // the log may be new
      } catch (error) {
        throw toDiskFault(error, path)
      }
    },
    checkpoint() {
      try {
        flush()
      } catch (error) {
        if (!isSqliteDiskFull(error)) throw error
      }
    },
  }
}

/** SQLite locks the other files of the store, so closing the log releases no lock. */
async function syncPath(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
