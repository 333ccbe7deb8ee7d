/** Transactions: run again where they collide or lose their connection, but never a second time once they are committed. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Client } from './client.ts'
import type { Statement } from './connection.ts'
import { isCommitted, type Proofs } from './proof.ts'
import { isCollision, isConsequence, isLost, isSilent } from './trouble.ts'

/** What runs inside a transaction. Statements may be sent without waiting for the ones before. */
export type Session = {
  rows<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>
  /** How many rows the statement changed. */
  run(statement: Statement, values?: readonly unknown[]): Promise<number>
  /** Statements of no name, such as those of a migration. */
  script(sql: string): Promise<void>
}

export type Work<Result> = (session: Session) => Promise<Result>
export type Write = <Result>(work: Work<Result>) => Promise<Result>
/** A free connection, for oneself. */
export type Take = () => Promise<pg.PoolClient>

/** How often a transaction is tried that collides with others, and a snapshot. */
const TRIES = 10
const SNAPSHOT_TRIES = 2
/** The longest pause before another try, in milliseconds times the number of the try: two that collided do not meet again. */
const PAUSE = 20
const BEGIN = 'begin isolation level read committed'
/** To build an index takes as long as it takes; for a lock it waits no longer than others do. */
const BEGIN_ONCE = `${BEGIN}; set local statement_timeout = 0`
const BEGIN_SNAPSHOT = 'begin isolation level repeatable read read only'

export function snapshot<Result>(take: Take, work: Work<Result>): Promise<Result> {
  return again(SNAPSHOT_TRIES, async () => {
    const client = await take()
    return within(client, client.query(BEGIN_SNAPSHOT), work)
  })
}

/** One try, which may end unknown where the connection is lost. */
export async function once<Result>(take: Take, work: Work<Result>): Promise<Result> {
  const client = (await take()) as pg.PoolClient & Pick<Client, 'silence'>
  const { silence } = client
  client.silence = Number.POSITIVE_INFINITY
  try {
    return await within(client, client.query(BEGIN_ONCE), work)
  } finally {
    client.silence = silence
  }
}

export function trial<Result>(take: Take, work: Work<Result>): Promise<Result> {
  return again(TRIES, async () => {
    const client = await take()
    return within(client, client.query(BEGIN), work)
  })
}

export function transaction<Result>(take: Take, proofs: Proofs, work: Work<Result>): Promise<Result> {
  return again(TRIES, async () => {
    const client = await take()
    const proof = proofs.next()
    const begun = Promise.all([client.query(BEGIN), proofs.leave(client, proof)])
    let done: { result: Result } | undefined
    try {
      const result = await within(client, begun, async (session) => {
        done = { result: await work(session) }
        return done.result
      })
      proofs.settle(proof, true)
      return result
    } catch (error) {
      const isWritten = done !== undefined && isLost(error) && (await isCommitted(take, proof, isSilent(error)))
      proofs.settle(proof, isWritten)
      if (done && isWritten) return done.result
      throw error
    }
  })
}

/** Runs `work` between `begun` and commit; whatever is thrown, nothing is written, or its commit was not answered. */
async function within<Result>(client: pg.PoolClient, begun: Promise<unknown>, work: Work<Result>): Promise<Result> {
  const failures: unknown[] = []
  const fail = (error: unknown): void => void failures.push(error)
  let isBroken = false
  client.on('error', ignore) // who waits for an answer is told as well
  const ready = begun.catch(fail)
  try {
    const result = await work(sessionOf(client, fail))
    await begun
    await client.query('commit')
    return result
  } catch (thrown) {
    await ready
    const error = isConsequence(thrown) ? (failures.find((failure) => !isConsequence(failure)) ?? thrown) : thrown
    isBroken = isLost(error)
    if (!isBroken)
      await client.query('rollback').catch(() => {
        isBroken = true
      })
    throw error
  } finally {
    client.off('error', ignore)
    client.release(isBroken)
  }
}

async function again<Result>(tries: number, work: () => Promise<Result>): Promise<Result> {
  for (let tried = 1; ; tried++) {
    try {
      return await work()
    } catch (error) {
      if (tried >= tries || isSilent(error) || !(isCollision(error) || isLost(error))) throw error
      await sleep(Math.random() * PAUSE * tried)
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

function ignore(): void {}
