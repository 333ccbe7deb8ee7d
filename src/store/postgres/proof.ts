/**
 * The proof that a transaction was committed: a row that it leaves behind, for when the answer to its commit is lost.
 *
 * The server's own word, pg_xact_status, is none: after a crash a lost transaction's number is given to the next one.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { DoubtFault } from '../fault.ts'
import { isLost } from './trouble.ts'

/** Made beside the table of migrations, because migrations are the only transactions that leave no proof. */
export const PROOFS =
  'create table if not exists proof (id uuid primary key, written timestamptz not null default now())'

/** A new proof, and those of former transactions that nobody will ask for. */
export type Proof = { id: string; spent: string[] }

const LEAVE = {
  name: 'proof.leave',
  text: `with spent as (delete from proof where id = any($2::uuid[])) insert into proof (id) values ($1)`,
}
const LOOK = { name: 'proof.look', text: 'insert into proof (id) values ($1) on conflict do nothing' }
/** Of processes that are gone too. */
const SWEEP = `delete from proof where id = any($1::uuid[]) or written < now() - interval '1 day'`

/** How often it is looked for while the server comes and goes, and how many milliseconds lie between. */
const LOOKS = 20
const BETWEEN = 100
/** Milliseconds that it is looked for where the server was silent. */
const BRIEF = 2_000
const UNKNOWN =
  'the connection was lost while a transaction was being committed, and it cannot be found out whether it was'

/** The proofs of one process. */
export class Proofs {
  #spent: string[] = []

  /** Begins to leave one in the transaction of a connection. */
  async leave(client: pg.ClientBase, { id, spent }: Proof): Promise<void> {
    await client.query({ ...LEAVE, values: [id, spent] })
  }

  next(): Proof {
    return { id: randomUUID(), spent: this.#spent.splice(0) }
  }

  /** A transaction has ended, and it is known how. */
  settle({ id, spent }: Proof, isCommitted: boolean): void {
    this.#spent.push(...(isCommitted ? [id] : spent))
  }

  /** Removes those that are left; what hinders it does no harm. */
  async sweep(pool: pg.Pool): Promise<void> {
    if (this.#spent.length > 0) await pool.query(SWEEP, [this.#spent.splice(0)]).catch(() => {})
  }
}

/**
 * Whether a transaction was committed whose commit was not answered; `briefly`: those who wait have waited long enough. Throws
 * DoubtFault where that cannot be found out.
 */
export async function isCommitted(take: () => Promise<pg.PoolClient>, proof: Proof, briefly = false): Promise<boolean> {
  const looked = look(take, proof)
  if (!briefly) return looked
  looked.catch(() => {}) // it goes on looking for nobody
  const found = await Promise.race([looked, sleep(BRIEF, null, { ref: false })])
  if (found === null) throw new DoubtFault(UNKNOWN)
  return found
}

async function look(take: () => Promise<pg.PoolClient>, { id }: Proof): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) {
    const client = await take().catch(() => null)
    if (client === null) break // what `take` throws would let the transaction be run a second time
    const found = await isThere(client, id)
    if (found !== null) return found
    await sleep(BETWEEN)
  }
  throw new DoubtFault(UNKNOWN)
}

/** Waits for a transaction that is under way still: two rows of one id exclude each other. Null where the connection is lost. */
async function isThere(client: pg.PoolClient, id: string): Promise<boolean | null> {
  let isBroken = false
  client.on('error', ignore)
  try {
    await client.query('begin')
    const { rowCount } = await client.query({ ...LOOK, values: [id] })
    await client.query('rollback')
    return rowCount === 0
  } catch (error) {
    isBroken = true
    if (isLost(error)) return null
    throw new DoubtFault(UNKNOWN, { cause: error }) // it may be under way for longer than anyone waits
  } finally {
    client.off('error', ignore)
    client.release(isBroken)
  }
}

function ignore(): void {}
