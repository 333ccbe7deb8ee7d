/** The connections of a process: reads share some of them, each transaction has one of its own. */

import pg from 'pg'
import type { Instant } from '../../../values/time.ts'
import { type ClientConfig, DEFAULT_SILENCE_MS, WatchedClient } from './client.ts'
import { serverClock } from './clock.ts'
import { CommitMarkers } from './commit-marker.ts'
import { clientConfigOf } from './connection.ts'
import { connectWithRetry, toStoreFault } from './errors.ts'
import { PipelinedReader, type ReadStatement } from './pipelined-reader.ts'
import { hasCitus, ONE_SHARD, readShards, type Shards } from './shards.ts'
import { type RunTransaction, runEmptyTransaction, runOnce, runSnapshot, runTransaction } from './transaction.ts'

export type Database = {
  /** Runs one statement that changes nothing. Retries once if the connection is lost. */
  read: ReadStatement
  /**
   * The same for statements that take milliseconds: they use connections of their own, so that short reads do not wait
   * for them.
   */
  readLong: ReadStatement
  /** Runs read-only statements on one snapshot. Retries once if the connection is lost. */
  snapshot: RunTransaction
  /**
   * Runs `work` in one transaction (read committed). Retries if it conflicts with another one or the connection is
   * lost, so `work` must be repeatable. If `work` throws, nothing is written. In any case it is written once or not at
   * all.
   */
  transaction: RunTransaction
  /** Runs `work` in one transaction without a commit marker, for migrations. Retries only after a conflict. */
  transactionOnce: RunTransaction
  /** Runs `work`, which must write no row, in a writable transaction without a commit marker. */
  emptyTransaction: RunTransaction
  /** The server's clock. */
  now(): Promise<Instant>
  /** Whether the database has the extension Citus. */
  hasCitus: boolean
  /** The shards of the tables, which must exist. */
  shards(): Promise<Shards>
  close(): Promise<void>
}

export type DatabaseOptions = {
  /** Number of connections, at least 2. */
  pool: number
  /** How the server lists this process. */
  applicationName: string
  /** Milliseconds that the server may be silent during a request; default 90 seconds. */
  maxSilence?: number | undefined
}

/** Maximum milliseconds to wait for a free connection: longer than a transaction may wait for another one. */
const MAX_POOL_WAIT_MS = 60_000

/** Connects. Throws StoreFault if that fails. */
export async function openDatabase(url: string, options: DatabaseOptions): Promise<Database> {
  const { pool: size, applicationName, maxSilence = DEFAULT_SILENCE_MS } = options
  const readConnections = Math.max(1, Math.floor(size / 2))
  const longReadConnections = Math.floor(readConnections / 2)
  const connected = connectFirst(url, applicationName, maxSilence, readConnections - longReadConnections)
  const { config, reader, isCitus } = await connected.catch((error) => {
    throw toStoreFault(error, url)
  })
  const long = longReadConnections > 0 ? new PipelinedReader(config, longReadConnections) : reader
  const pool = transactionPool(config, Math.max(1, size - readConnections))
  const markers = new CommitMarkers()
  const take = (): Promise<pg.PoolClient> =>
    connectWithRetry(
      () => pool.connect(),
      (client) => client.release(),
    )
  const withStoreFault = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work
    } catch (error) {
      throw toStoreFault(error, url)
    }
  }
  const read: ReadStatement = (statement, values) => withStoreFault(reader.read(statement, values))
  return {
    read,
    readLong: (statement, values) => withStoreFault(long.read(statement, values)),
    snapshot: (work) => withStoreFault(runSnapshot(take, work)),
    transaction: (work) => withStoreFault(runTransaction(take, markers, work)),
    transactionOnce: (work) => withStoreFault(runOnce(take, work)),
    emptyTransaction: (work) => withStoreFault(runEmptyTransaction(take, work)),
    now: serverClock(read),
    hasCitus: isCitus,
    shards: isCitus ? shardsReader(read) : async () => ONE_SHARD,
    async close() {
      await markers.deleteObsolete(pool)
      await Promise.all([pool.end(), reader.end(), long.end()])
    },
  }
}

/** The reader of short statements with its first connection. Citus needs other settings from the start. */
async function connectFirst(url: string, applicationName: string, maxSilence: number, max: number) {
  for (let isCitus = false; ; isCitus = true) {
    const config = { ...clientConfigOf(url, applicationName, isCitus), maxSilence }
    const reader = new PipelinedReader(config, max)
    await reader.connectFirst()
    const isFinal =
      isCitus ||
      !(await hasCitus((statement) => reader.read(statement)).catch(async (error) => {
        await reader.end()
        throw error
      }))
    if (isFinal) return { config, reader, isCitus }
    await reader.end()
  }
}

/** Reads the shards once. */
function shardsReader(read: ReadStatement): () => Promise<Shards> {
  let shards: Shards = ONE_SHARD
  return async () => {
    if (shards === ONE_SHARD) shards = await readShards(read)
    return shards
  }
}

/** The connections for transactions. */
function transactionPool(config: ClientConfig, max: number): pg.Pool {
  const connectionTimeoutMillis = Math.min(MAX_POOL_WAIT_MS, config.maxSilence)
  const pool = new pg.Pool({ ...config, Client: WatchedClient as never, connectionTimeoutMillis, max })
  pool.on('error', () => {}) // error of an idle connection: the pool replaces it when needed
  return pool
}
