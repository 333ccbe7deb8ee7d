/** Transactions: run again where they collide or lose their connection, but never a second time once they are committed. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { WatchedClient } from './client.ts'
import { type CommitMarkers, isCommitted } from './commit-marker.ts'
import type { Statement } from './connection.ts'
import { isCollision, isConnectionLost, isFollowUpError, isServerSilent } from './errors.ts'

/** What runs inside a transaction. Statements may be sent without waiting for the ones before. */
export type Session = {
  rows<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>
  /** How many rows the statement changed. */
  run(statement: Statement, values?: readonly unknown[]): Promise<number>
  /** Statements of no name, such as those of a migration. */
  script(sql: string): Promise<void>
}

export type TransactionWork<Result> = (session: Session) => Promise<Result>
export type RunTransaction = <Result>(work: TransactionWork<Result>) => Promise<Result>
/** A free connection, for oneself. */
export type TakeConnection = () => Promise<pg.PoolClient>

/** How often a transaction is tried that collides with others, and a snapshot. */
const MAX_TRANSACTION_TRIES = 10
const MAX_SNAPSHOT_TRIES = 2
/** The longest pause before another try, in milliseconds times the number of the try: two that collided do not meet again. */
const MAX_RETRY_PAUSE_MS = 20
const BEGIN_TRANSACTION = 'begin isolation level read committed'
/** To build an index takes as long as it takes; for a lock it waits no longer than others do. */
const BEGIN_MIGRATION = `${BEGIN_TRANSACTION}; set local statement_timeout = 0`
const BEGIN_SNAPSHOT = 'begin isolation level repeatable read read only'

export function runSnapshot<Result>(takeConnection: TakeConnection, work: TransactionWork<Result>): Promise<Result> {
  return withRetries(MAX_SNAPSHOT_TRIES, async () => {
    const client = await takeConnection()
    return runBetween(client, client.query(BEGIN_SNAPSHOT), work)
  })
}

/** One try, which may end unknown where the connection is lost. */
export async function runOnce<Result>(takeConnection: TakeConnection, work: TransactionWork<Result>): Promise<Result> {
  const client = (await takeConnection()) as pg.PoolClient & Pick<WatchedClient, 'maxSilence'>
  const { maxSilence: silence } = client
  client.maxSilence = Number.POSITIVE_INFINITY
  try {
    return await runBetween(client, client.query(BEGIN_MIGRATION), work)
  } finally {
    client.maxSilence = silence
  }
}

export function runTrial<Result>(takeConnection: TakeConnection, work: TransactionWork<Result>): Promise<Result> {
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
    let done: { result: Result } | undefined
    try {
      const result = await runBetween(client, started, async (session) => {
        done = { result: await work(session) }
        return done.result
      })
      markers.settle(marker, true)
      return result
    } catch (error) {
      const isWritten =
        done !== undefined &&
        isConnectionLost(error) &&
        (await isCommitted(takeConnection, marker, isServerSilent(error)))
      markers.settle(marker, isWritten)
      if (done && isWritten) return done.result
      throw error
    }
  })
}

/** Runs `work` between `begun` and commit; whatever is thrown, nothing is written, or its commit was not answered. */
async function runBetween<Result>(
  client: pg.PoolClient,
  started: Promise<unknown>,
  work: TransactionWork<Result>,
): Promise<Result> {
  const failures: unknown[] = []
  const fail = (error: unknown): void => void failures.push(error)
  let isBroken = false
  client.on('error', ignoreClientError) // who waits for an answer is told as well
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
  for (let tried = 1; ; tried++) {
    try {
      return await work()
    } catch (error) {
      if (tried >= tries || isServerSilent(error) || !(isCollision(error) || isConnectionLost(error))) throw error
      await sleep(Math.random() * MAX_RETRY_PAUSE_MS * tried)
    }
  }
}

/** `fail` is told of every statement that fails, in their order, before those who wait for it. */
function sessionOf(client: pg.PoolClient, fail: (error: unknown) => void): Session {
  const query = (statement: Statement, values: readonly unknown[] = []) => {
    const answer = client.query({ ...statement, values: values as unknown[] })
    answer.catch(fail)
    return answer
  }
  return {
    rows: async <Row>(statement: Statement, values?: readonly unknown[]) =>
      (await query(statement, values)).rows as Row[],
    run: async (statement, values) => (await query(statement, values)).rowCount ?? 0,
    script: async (sql) => void (await client.query(sql)),
  }
}

function ignoreClientError(): void {}
