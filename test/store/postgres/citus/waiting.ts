/** Which sessions of a schema wait for a lock, on the server itself or, with Citus, on one of its workers. */

import type pg from 'pg'

/** The sessions that hold locks in this schema. Tables of other copies of a database have the same numbers. */
const SESSIONS = `select l.pid from pg_locks l join pg_class c on c.oid = l.relation
  where c.relnamespace = current_schema()::regnamespace
    and l.database = (select oid from pg_database where datname = current_database())`
const WAITING = `select distinct pid from pg_locks where not granted and pid in (${SESSIONS})`
/** The process that sent a statement is a part of the number by which the workers know it. */
const WAITING_ON_WORKERS = `select citus_pid_for_gpid(waiting_gpid) as pid from citus_lock_waits
  where citus_pid_for_gpid(waiting_gpid) in (${SESSIONS})`

/** Whether Citus has distributed the tables. */
export async function isDistributed(hand: pg.Client): Promise<boolean> {
  return (await hand.query(`select 1 from pg_extension where extname = 'citus'`)).rowCount === 1
}

/** The process ids of the sessions that wait, as `pid`. */
export async function waitingSql(hand: pg.Client): Promise<string> {
  return (await isDistributed(hand)) ? `${WAITING} union ${WAITING_ON_WORKERS}` : WAITING
}

/** Resolves when so many transactions wait. */
export async function waiting(hand: pg.Client, transactions: number): Promise<void> {
  const sql = await waitingSql(hand)
  while ((await hand.query(sql)).rowCount! < transactions);
}
