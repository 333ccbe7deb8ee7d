/** The connections of a process: reads share some of them, transactions have one each for themselves. */

import pg from 'pg'
import type { Instant } from '../../../values/time.ts'
import { type ClientConfig, DEFAULT_SILENCE_MS, WatchedClient } from './client.ts'
import { serverClock } from './clock.ts'
import { CommitMarkers } from './commit-marker.ts'
import { clientConfigOf } from './connection.ts'
import { connectWithRetry, toStoreFault } from './errors.ts'
import { PipelinedReader, type ReadStatement } from './pipelined-reader.ts'
import { type RunTransaction, runOnce, runSnapshot, runTransaction, runTrial } from './transaction.ts'

export type Database = {
  /** One statement that changes nothing; tried once more where the connection is lost. */
  read: ReadStatement
  /** The same for what takes milliseconds: it goes a way of its own, so that no short one waits behind it. */
  readLong: ReadStatement
  /** Statements that see one moment and change nothing; tried once more where the connection is lost. */
  snapshot: RunTransaction
  /**
   * Runs `work` in one transaction (read committed), again where it collides with another one or the connection is lost:
   * `work` has to bear that, and what it throws ends it with nothing written. Written once or not at all, whatever happens.
   */
  transaction: RunTransaction
  /** Runs `work` in one transaction, once, and leaves no commit marker: for migrations. */
  transactionOnce: RunTransaction
  /** Runs `work`, which writes nothing, in one transaction that could write, by a connection of those that write. */
  rolledBackTransaction: RunTransaction
  /** The server's clock. */
  now(): Promise<Instant>
  close(): Promise<void>
}

export type DatabaseOptions = {
  /** Connections, 2 at least. */
  pool: number
  /** How the server lists this process. */
  applicationName: string
  /** Milliseconds for which the server may be silent while somebody waits, 90 seconds by default. */
  maxSilence?: number | undefined
}

/** Milliseconds for which one waits for a connection that is in use, at most: longer than its transaction may wait for another one. */
const MAX_POOL_WAIT_MS = 60_000

/** Connects; throws StoreFault where that fails. */
export async function openDatabase(url: string, options: DatabaseOptions): Promise<Database> {
  const { pool: size, applicationName: who, maxSilence: silence = DEFAULT_SILENCE_MS } = options
  const config = { ...clientConfigOf(url, who), maxSilence: silence }
  const readConnections = Math.max(1, Math.floor(size / 2))
  const longReadConnections = Math.floor(readConnections / 2)
  const reader = new PipelinedReader(config, { max: readConnections - longReadConnections, depth: 8 })
  const long = longReadConnections > 0 ? new PipelinedReader(config, { max: longReadConnections, depth: 1 }) : reader
  const pool = transactionPool(config, Math.max(1, size - readConnections))
  const markers = new CommitMarkers()
  const take = (): Promise<pg.PoolClient> =>
    connectWithRetry(
      () => pool.connect(),
      (late) => late.release(),
    )
  const worded = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work
    } catch (error) {
      throw toStoreFault(error, url)
    }
  }
  await worded(reader.connectFirst())
  const read: ReadStatement = (statement, values) => worded(reader.read(statement, values))
  return {
    read,
    readLong: (statement, values) => worded(long.read(statement, values)),
    snapshot: (work) => worded(runSnapshot(take, work)),
    transaction: (work) => worded(runTransaction(take, markers, work)),
    transactionOnce: (work) => worded(runOnce(take, work)),
    rolledBackTransaction: (work) => worded(runTrial(take, work)),
    now: serverClock(read),
    async close() {
      await markers.deleteObsolete(pool)
      await Promise.all([pool.end(), reader.end(), long.end()])
    },
  }
}

/** The connections of transactions. */
function transactionPool(config: ClientConfig, max: number): pg.Pool {
  const connectionTimeoutMillis = Math.min(MAX_POOL_WAIT_MS, config.maxSilence)
  const pool = new pg.Pool({ ...config, Client: WatchedClient as never, connectionTimeoutMillis, max })
  pool.on('error', () => {}) // of an idle connection, which is replaced when it is needed
  return pool
}
