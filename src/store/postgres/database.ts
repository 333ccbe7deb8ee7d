/** The connections of a process: reads share some of them, transactions have one each for themselves. */

import pg from 'pg'
import type { Instant } from '../../words/time.ts'
import { Client, type ClientConfig, SILENCE } from './client.ts'
import { clockOf } from './clock.ts'
import { configOf } from './connection.ts'
import { Proofs } from './proof.ts'
import { type Read, Reader } from './reader.ts'
import { inWords, patiently } from './trouble.ts'
import { once, snapshot, transaction, trial, type Write } from './writer.ts'

export type Database = {
  /** One statement that changes nothing; tried once more where the connection is lost. */
  read: Read
  /** The same for what takes milliseconds: it goes a way of its own, so that no short one waits behind it. */
  readLong: Read
  /** Statements that see one moment and change nothing; tried once more where the connection is lost. */
  snapshot: Write
  /**
   * Runs `work` in one transaction (read committed), again where it collides with another one or the connection is lost:
   * `work` has to bear that, and what it throws ends it with nothing written. Written once or not at all, whatever happens.
   */
  transaction: Write
  /** Runs `work` in one transaction, once, and leaves no proof of it: for migrations. */
  once: Write
  /** Runs `work`, which writes nothing, in one transaction that could write, by a connection of those that write. */
  trial: Write
  /** The server's clock. */
  now(): Promise<Instant>
  close(): Promise<void>
}

export type DatabaseOptions = {
  /** Connections, 2 at least. */
  pool: number
  /** How the server lists this process. */
  who: string
  /** Milliseconds for which the server may be silent while somebody waits, 90 seconds by default. */
  silence?: number | undefined
}

/** Milliseconds for which one waits for a connection that is in use, at most: longer than its transaction may wait for another one. */
const TURN = 60_000

/** Connects; throws StoreFault where that fails. */
export async function openDatabase(url: string, options: DatabaseOptions): Promise<Database> {
  const { pool: size, who, silence = SILENCE } = options
  const config = { ...configOf(url, who), silence }
  const lanes = Math.max(1, Math.floor(size / 2))
  const longLanes = Math.floor(lanes / 2)
  const reader = new Reader(config, { most: lanes - longLanes, depth: 8 })
  const long = longLanes > 0 ? new Reader(config, { most: longLanes, depth: 1 }) : reader
  const pool = poolOf(config, Math.max(1, size - lanes))
  const proofs = new Proofs()
  const take = (): Promise<pg.PoolClient> =>
    patiently(
      () => pool.connect(),
      (late) => late.release(),
    )
  const worded = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work
    } catch (error) {
      throw inWords(error, url)
    }
  }
  await worded(reader.begin())
  const read: Read = (statement, values) => worded(reader.read(statement, values))
  return {
    read,
    readLong: (statement, values) => worded(long.read(statement, values)),
    snapshot: (work) => worded(snapshot(take, work)),
    transaction: (work) => worded(transaction(take, proofs, work)),
    once: (work) => worded(once(take, work)),
    trial: (work) => worded(trial(take, work)),
    now: clockOf(read),
    async close() {
      await proofs.sweep(pool)
      await Promise.all([pool.end(), reader.end(), long.end()])
    },
  }
}

/** The connections of transactions. */
function poolOf(config: ClientConfig, max: number): pg.Pool {
  const connectionTimeoutMillis = Math.min(TURN, config.silence)
  const pool = new pg.Pool({ ...config, Client: Client as never, connectionTimeoutMillis, max })
  pool.on('error', () => {}) // of an idle connection, which is replaced when it is needed
  return pool
}
