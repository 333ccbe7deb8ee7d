/** Transactions: run again where they collide or lose their connection, but never a second time once they are committed. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { StoreFault } from '../fault.ts'
import type { Statement } from './connection.ts'
import { isCollision, isLost } from './trouble.ts'

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
/** How often a transaction is asked for whose end is not known, and how many milliseconds lie between. */
const QUESTIONS = 100
const BETWEEN = 100
const UNKNOWN =
  'the connection was lost while a transaction was being committed, and the server cannot say whether it was'

// In one message, so that the id by which the server knows the transaction costs no way there and back.
const BEGIN = 'begin isolation level read committed; select pg_current_xact_id()::text as id'
const BEGIN_SNAPSHOT = 'begin isolation level repeatable read read only'

export function snapshot<Result>(take: Take, work: Work<Result>): Promise<Result> {
  return again(SNAPSHOT_TRIES, async () => {
    const client = await take()
    return within(client, client.query(BEGIN_SNAPSHOT), () => work(sessionOf(client)))
  })
}

export function transaction<Result>(take: Take, work: Work<Result>): Promise<Result> {
  return again(TRIES, async () => {
    const client = await take()
    const begun = client.query(BEGIN).then(idOf)
    let committing: { id: string; result: Result } | undefined
    try {
      return await within(client, begun, async () => {
        const result = await work(sessionOf(client))
        committing = { id: await begun, result }
        return result
      })
    } catch (error) {
      if (committing && isLost(error) && (await isCommitted(take, committing.id))) return committing.result
      throw error
    }
  })
}

/** Runs `work` between `begun` and commit; whatever is thrown, nothing is written, or its commit was not answered. */
async function within<Result>(
  client: pg.PoolClient,
  begun: Promise<unknown>,
  work: () => Promise<Result>,
): Promise<Result> {
  let isBroken = false
  client.on('error', ignore) // who waits for an answer is told as well
  begun.catch(ignore)
  try {
    const result = await work()
    await begun
    await client.query('commit')
    return result
  } catch (error) {
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

/** What became of a transaction whose commit was not answered. Throws where the server does not know, or cannot be asked. */
async function isCommitted(take: Take, id: string): Promise<boolean> {
  for (let question = 0; question < QUESTIONS; question++) {
    const status = await statusOf(take, id)
    if (status === 'committed') return true
    if (status === 'aborted') return false
    if (status !== 'in progress') break
    await sleep(BETWEEN)
  }
  throw new StoreFault(UNKNOWN)
}

/** Null where the server cannot be reached: what was thrown then would let the transaction be run a second time. */
async function statusOf(take: Take, id: string): Promise<string | null> {
  const client = await take().catch(() => null)
  if (client === null) return null
  try {
    const { rows } = await client.query('select pg_xact_status($1::text::xid8) as status', [id])
    client.release()
    return rows[0]?.status ?? null
  } catch (error) {
    client.release(true)
    if (isLost(error)) return 'in progress' // as far as is known
    throw error
  }
}

async function again<Result>(tries: number, work: () => Promise<Result>): Promise<Result> {
  for (let tried = 1; ; tried++) {
    try {
      return await work()
    } catch (error) {
      if (tried >= tries || !(isCollision(error) || isLost(error))) throw error
      await sleep(Math.random() * PAUSE * tried)
    }
  }
}

function sessionOf(client: pg.PoolClient): Session {
  const query = (statement: Statement, values: readonly unknown[] = []) =>
    client.query({ ...statement, values: values as unknown[] })
  return {
    rows: async <Row>(statement: Statement, values?: readonly unknown[]) =>
      (await query(statement, values)).rows as Row[],
    run: async (statement, values) => (await query(statement, values)).rowCount ?? 0,
    script: async (sql) => void (await client.query(sql)),
  }
}

/** A message of several statements is answered by a result each. */
function idOf(results: unknown): string {
  return (results as { rows: { id: string }[] }[])[1]!.rows[0]!.id
}

function ignore(): void {}
