/** Transactions: retried after conflicts and lost connections, but never after a commit. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { lostWorkerOf, workerRetries } from './citus/lost-worker.ts'
import type { WatchedClient } from './client.ts'
import { type CommitMarkers, isCommitted } from './commit-marker.ts'
import type { Statement } from './connection.ts'
import { isCollision, isConnectionLost, isFollowUpError, isServerSilent } from './errors.ts'

/** The statements of a transaction. They may be sent without waiting for earlier ones. */
export type Session = {
  rows<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>
  /** Returns the number of changed rows. */
  run(statement: Statement, values?: readonly unknown[]): Promise<number>
  /** Statements without a name, such as those of a migration. */
  script(sql: string): Promise<void>
}

export type TransactionWork<Result> = (session: Session) => Promise<Result>
export type RunTransaction = <Result>(work: TransactionWork<Result>) => Promise<Result>
/** Takes a free connection for exclusive use. */
export type TakeConnection = () => Promise<pg.PoolClient>

/** Maximum tries of a transaction that conflicts with others, and of a snapshot. */
const MAX_TRANSACTION_TRIES = 10
const MAX_SNAPSHOT_TRIES = 2
/**
 * Maximum pause before a retry, in milliseconds times the number of the try, so that two transactions do not conflict
 * again.
 */
const MAX_RETRY_PAUSE_MS = 20
const BEGIN_TRANSACTION = 'begin isolation level read committed'
/** Building an index may take any time; waiting for a lock has the usual limit. */
const BEGIN_MIGRATION = `${BEGIN_TRANSACTION}; set local statement_timeout = 0`
const BEGIN_SNAPSHOT = 'begin isolation level repeatable read read only'

export function runSnapshot<Result>(takeConnection: TakeConnection, work: TransactionWork<Result>): Promise<Result> {
  return withRetries(MAX_SNAPSHOT_TRIES, async () => {
    const client = await takeConnection()
    return runBetween(client, client.query(BEGIN_SNAPSHOT), work)
  })
}

/**
 * Retries after a conflict, because then nothing is written. If the connection is lost, the outcome may be unknown, so
 * there is no retry.
 */
export async function runOnce<Result>(takeConnection: TakeConnection, work: TransactionWork<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const client = (await takeConnection()) as pg.PoolClient & Pick<WatchedClient, 'maxSilence'>
    const { maxSilence } = client
    client.maxSilence = Number.POSITIVE_INFINITY
    try {
      return await runBetween(client, client.query(BEGIN_MIGRATION), work)
    } catch (error) {
      if (!isCollision(error) || attempt >= MAX_TRANSACTION_TRIES) throw error
    } finally {
      client.maxSilence = maxSilence
    }
  }
}

export function runEmptyTransaction<Result>(
  takeConnection: TakeConnection,
  work: TransactionWork<Result>,
): Promise<Result> {
  return withRetries(MAX_TRANSACTION_TRIES, async () => {
    const client = await takeConnection()
    return runBetween(client, client.query(BEGIN_TRANSACTION), work)
  })
}

export function runTransaction<Result>(
  takeConnection: TakeConnection,
  markers: CommitMarkers,
  work: TransactionWork<Result>,
): Promise<Result> {
  return withRetries(MAX_TRANSACTION_TRIES, async () => {
    const client = await takeConnection()
    const marker = markers.next()
    const started = Promise.all([client.query(BEGIN_TRANSACTION), markers.insert(client, marker)])
    let completed: { result: Result } | undefined
    try {
      const result = await runBetween(client, started, async (session) => {
        completed = { result: await work(session) }
        return completed.result
      })
      markers.settle(marker, true)
      return result
    } catch (error) {
      const isWritten =
        completed !== undefined &&
        (isConnectionLost(error) || lostWorkerOf(error) !== null) &&
        (await isCommitted(takeConnection, marker, isServerSilent(error)))
      markers.settle(marker, isWritten)
      if (completed && isWritten) return completed.result
      throw error
    }
  })
}

/** Runs `work` after `started` and commits. If it throws, nothing is written, or the commit got no reply. */
async function runBetween<Result>(
  client: pg.PoolClient,
  started: Promise<unknown>,
  work: TransactionWork<Result>,
): Promise<Result> {
  const failures: unknown[] = []
  const fail = (error: unknown): void => void failures.push(error)
  let isBroken = false
  client.on('error', ignoreClientError) // the pending query gets the error too
  const ready = started.catch(fail)
  try {
    const result = await work(sessionOf(client, fail))
    await started
    await client.query('commit')
    return result
  } catch (thrown) {
    await ready
    const error = isFollowUpError(thrown) ? (failures.find((failure) => !isFollowUpError(failure)) ?? thrown) : thrown
    isBroken = isConnectionLost(error)
    if (!isBroken)
      await client.query('rollback').catch(() => {
        isBroken = true
      })
    throw error
  } finally {
    client.off('error', ignoreClientError)
    client.release(isBroken)
  }
}

async function withRetries<Result>(tries: number, work: () => Promise<Result>): Promise<Result> {
  const isRetried = workerRetries()
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (await isRetried(error)) continue
      if (attempt >= tries || isServerSilent(error) || !(isCollision(error) || isConnectionLost(error))) throw error
      await sleep(Math.random() * MAX_RETRY_PAUSE_MS * attempt)
    }
  }
}

/** `fail` receives the error of every failed statement, in their order, before the caller of the statement. */
function sessionOf(client: pg.PoolClient, fail: (error: unknown) => void): Session {
  const query = (statement: Statement, values: readonly unknown[] = []) => {
    const result = client.query({ ...statement, values: values as unknown[] })
    result.catch(fail)
    return result
  }
  return {
    rows: async <Row>(statement: Statement, values?: readonly unknown[]) =>
      (await query(statement, values)).rows as Row[],
    run: async (statement, values) => (await query(statement, values)).rowCount ?? 0,
    script: async (sql) => void (await client.query(sql)),
  }
}

function ignoreClientError(): void {}
