/**
 * The commit marker: a row that a transaction writes, which shows that it was committed if the answer to its commit is lost.
 *
 * The server's own word, pg_xact_status, is none: after a crash a lost transaction's number is given to the next one.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { UncertainWriteFault } from '../../port/fault.ts'
import { isConnectionLost } from './errors.ts'

/** Made beside the table of migrations, because migrations are the only transactions that leave no marker. */
export const CREATE_COMMIT_MARKERS =
  'create table if not exists commit_marker (id uuid primary key, written_at timestamptz not null default now())'

/** A new marker, and those of former transactions that nobody will ask for. */
export type CommitMarker = { id: string; obsolete: string[] }

const INSERT_COMMIT_MARKER = {
  name: 'commit-marker.insert',
  text: `with spent as (delete from commit_marker where id = any($2::uuid[])) insert into commit_marker (id) values ($1)`,
}
const CHECK_COMMIT_MARKER = {
  name: 'commit-marker.check',
  text: 'insert into commit_marker (id) values ($1) on conflict do nothing',
}
/** Of processes that are gone too. */
const DELETE_COMMIT_MARKERS = `delete from commit_marker where id = any($1::uuid[]) or written_at < now() - interval '1 day'`

/** How often it is looked for while the server comes and goes, and how many milliseconds lie between. */
const MAX_MARKER_CHECKS = 20
const MARKER_CHECK_MS = 100
/** Milliseconds that it is looked for after the server was silent. */
const BRIEF_CHECK_MS = 2_000
const COMMIT_UNKNOWN_MESSAGE =
  'the connection was lost while a transaction was being committed, and it cannot be found out whether it was'

/** The commit markers of one process. */
export class CommitMarkers {
  #obsolete: string[] = []

  /** Begins to leave one in the transaction of a connection. */
  async insert(client: pg.ClientBase, { id, obsolete: spent }: CommitMarker): Promise<void> {
    await client.query({ ...INSERT_COMMIT_MARKER, values: [id, spent] })
  }

  next(): CommitMarker {
    return { id: randomUUID(), obsolete: this.#obsolete.splice(0) }
  }

  /** A transaction has ended, and it is known how. */
  settle({ id, obsolete: spent }: CommitMarker, isCommitted: boolean): void {
    this.#obsolete.push(...(isCommitted ? [id] : spent))
  }

  /** Removes those that are left; what hinders it does no harm. */
  async deleteObsolete(pool: pg.Pool): Promise<void> {
    if (this.#obsolete.length > 0) await pool.query(DELETE_COMMIT_MARKERS, [this.#obsolete.splice(0)]).catch(() => {})
  }
}

/**
 * Whether a transaction was committed whose commit was not answered; `briefly`: those who wait have waited long enough. Throws
 * DoubtFault where that cannot be found out.
 */
export async function isCommitted(
  takeConnection: () => Promise<pg.PoolClient>,
  marker: CommitMarker,
  briefly = false,
): Promise<boolean> {
  const check = checkMarker(takeConnection, marker)
  if (!briefly) return check
  check.catch(() => {}) // it goes on looking for nobody
  const found = await Promise.race([check, sleep(BRIEF_CHECK_MS, null, { ref: false })])
  if (found === null) throw new UncertainWriteFault(COMMIT_UNKNOWN_MESSAGE)
  return found
}

async function checkMarker(takeConnection: () => Promise<pg.PoolClient>, { id }: CommitMarker): Promise<boolean> {
  for (let look = 0; look < MAX_MARKER_CHECKS; look++) {
    const client = await takeConnection().catch(() => null)
    if (client === null) break // what `take` throws would let the transaction be run a second time
    const found = await markerExists(client, id)
    if (found !== null) return found
    await sleep(MARKER_CHECK_MS)
  }
  throw new UncertainWriteFault(COMMIT_UNKNOWN_MESSAGE)
}

/** Waits for a transaction that is under way still: two rows of one id exclude each other. Null where the connection is lost. */
async function markerExists(client: pg.PoolClient, id: string): Promise<boolean | null> {
  let isBroken = false
  client.on('error', ignoreMarkerError)
  try {
    await client.query('begin')
    const { rowCount } = await client.query({ ...CHECK_COMMIT_MARKER, values: [id] })
    await client.query('rollback')
    return rowCount === 0
  } catch (error) {
    isBroken = true
    if (isConnectionLost(error)) return null
    throw new UncertainWriteFault(COMMIT_UNKNOWN_MESSAGE, { cause: error }) // it may be under way for longer than anyone waits
  } finally {
    client.off('error', ignoreMarkerError)
    client.release(isBroken)
  }
}

function ignoreMarkerError(): void {}
