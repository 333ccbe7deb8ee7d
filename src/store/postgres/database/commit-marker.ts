/**
 * The commit marker: a row that a transaction writes. It shows whether the transaction was committed if the reply to
 * its commit is lost.
 *
 * The server's pg_xact_status cannot be used: after a crash, the number of a lost transaction is assigned again.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { UncertainWriteFault } from '../../port/fault.ts'
import { isConnectionLost } from './errors.ts'

/** Created with the table of migrations, because only migrations leave no marker. */
export const CREATE_COMMIT_MARKERS =
  'create table if not exists commit_marker (id uuid primary key, written_at timestamptz not null default now())'

/** A new marker, and obsolete markers of former transactions. */
export type CommitMarker = { id: string; obsolete: string[] }

const INSERT_COMMIT_MARKER = {
  name: 'commit-marker.insert',
  text: 'insert into commit_marker (id) values ($1)',
}
const DELETE_OBSOLETE_MARKERS = {
  name: 'commit-marker.delete',
  text: 'delete from commit_marker where id = any($1::uuid[])',
}
/** Obsolete markers that a transaction deletes at once. */
const OBSOLETE_MARKERS = 64
const CHECK_COMMIT_MARKER = {
  name: 'commit-marker.check',
  text: 'insert into commit_marker (id) values ($1) on conflict do nothing',
}
/** Also deletes markers of processes that have ended. */
const DELETE_COMMIT_MARKERS = `delete from commit_marker where id = any($1::uuid[]) or written_at < now() - interval '1 day'`

/** Maximum checks for a marker while the server restarts, and the milliseconds between them. */
const MAX_MARKER_CHECKS = 20
const MARKER_CHECK_MS = 100
/** Milliseconds for checks after the server was silent. */
const BRIEF_CHECK_MS = 2_000
const COMMIT_UNKNOWN_MESSAGE =
  'the connection was lost during a commit; it is unknown whether the transaction was committed'

/** The commit markers of one process. */
export class CommitMarkers {
  #obsolete: string[] = []

  /** Inserts a marker in the transaction of a connection. */
  async insert(client: pg.ClientBase, { id, obsolete }: CommitMarker): Promise<void> {
    const inserted = client.query({ ...INSERT_COMMIT_MARKER, values: [id] })
    const deleted = obsolete.length > 0 && client.query({ ...DELETE_OBSOLETE_MARKERS, values: [obsolete] })
    await Promise.all([inserted, deleted])
  }

  next(): CommitMarker {
    return { id: randomUUID(), obsolete: this.#obsolete.length < OBSOLETE_MARKERS ? [] : this.#obsolete.splice(0) }
  }

  /** Records that the outcome of a transaction is known. */
  settle({ id, obsolete }: CommitMarker, isCommitted: boolean): void {
    this.#obsolete.push(...(isCommitted ? [id] : obsolete))
  }

  /** Deletes obsolete markers. Ignores errors. */
  async deleteObsolete(pool: pg.Pool): Promise<void> {
    if (this.#obsolete.length > 0) await pool.query(DELETE_COMMIT_MARKERS, [this.#obsolete.splice(0)]).catch(() => {})
  }
}

/**
 * Whether a transaction was committed whose commit got no reply. `briefly`: the callers have waited long enough. Throws
 * UncertainWriteFault if this cannot be determined.
 */
export async function isCommitted(
  takeConnection: () => Promise<pg.PoolClient>,
  marker: CommitMarker,
  briefly = false,
): Promise<boolean> {
  const check = checkMarker(takeConnection, marker)
  if (!briefly) return check
  check.catch(() => {}) // the check continues, but its result is not used
  const found = await Promise.race([check, sleep(BRIEF_CHECK_MS, null, { ref: false })])
  if (found === null) throw new UncertainWriteFault(COMMIT_UNKNOWN_MESSAGE)
  return found
}

async function checkMarker(takeConnection: () => Promise<pg.PoolClient>, { id }: CommitMarker): Promise<boolean> {
  for (let attempt = 0; attempt < MAX_MARKER_CHECKS; attempt++) {
    const client = await takeConnection().catch(() => null)
    if (client === null) break // rethrowing this error would run the transaction a second time
    const found = await markerExists(client, id)
    if (found !== null) return found
    await sleep(MARKER_CHECK_MS)
  }
  throw new UncertainWriteFault(COMMIT_UNKNOWN_MESSAGE)
}

/**
 * Waits for a transaction that is still open: two rows of one id exclude each other. Null if the connection is lost.
 */
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
    // it may stay open for longer than any caller waits
    throw new UncertainWriteFault(COMMIT_UNKNOWN_MESSAGE, { cause: error })
  } finally {
    client.off('error', ignoreMarkerError)
    client.release(isBroken)
  }
}

function ignoreMarkerError(): void {}
