/** Certificate logs on SQLite. One write transaction at a time, so that no log has two holders. */

import type { DatabaseSync } from 'node:sqlite'
import type { Instant } from '../../../values/time.ts'
import { type CertificateLogs, LOG_LEASE_SECONDS, type LogLease, type StoredLog } from '../../port/certificate-logs.ts'
import { writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'

/** The lease has not expired. An expiry beyond the longest possible one was written before the clock was set back. */
const LEASE_HELD_CONDITION = 'holder is not null and expires_at > ?1 and expires_at <= ?1 + ?2'
const LEASE_VALID_CONDITION = 'id = ? and fence = ? and holder is not null'

type LeasedRow = { fence: number; state: string | null }

export function sqliteCertificateLogs(database: DatabaseSync, log: WriteAheadLog, now: () => Instant): CertificateLogs {
  const add = database.prepare(
    'insert into certificate_log (id, url) values (?, ?) on conflict (id) do update set url = excluded.url',
  )
  const lease = database.prepare(
    `update certificate_log set holder = ?3, fence = fence + 1, expires_at = ?1 + ?2
     where id = ?4 and problem is null and not (${LEASE_HELD_CONDITION}) returning fence, state`,
  )
  const save = database.prepare(
    `update certificate_log set state = ?, saved_at = ?, expires_at = ? where ${LEASE_VALID_CONDITION}`,
  )
  const renew = database.prepare(`update certificate_log set expires_at = ? where ${LEASE_VALID_CONDITION}`)
  const release = database.prepare(
    `update certificate_log set holder = null, expires_at = null, problem = ? where ${LEASE_VALID_CONDITION}`,
  )
  const readmit = database.prepare(
    'update certificate_log set problem = null, state = null where id = ? and problem is not null',
  )
  const list = database.prepare(
    `select id, url, state, saved_at as savedAt, problem, iif(${LEASE_HELD_CONDITION}, holder, null) as holder
     from certificate_log order by url, id`,
  )
  const write = <Result>(work: (now: Instant) => Result): Promise<Result> =>
    log.whenBounded(() => writeTransaction(database, () => work(now())))
  const isHeld = (changes: number | bigint): boolean => Number(changes) === 1
  return {
    lease: ({ id, url }, holder) =>
      write((at) => {
        add.run(id, url)
        const row = lease.get(at, LOG_LEASE_SECONDS, holder, id) as LeasedRow | undefined
        return row === undefined ? null : { lease: { id, fence: row.fence }, state: row.state }
      }),
    save: ({ id, fence }: LogLease, state) =>
      write((at) => isHeld(save.run(state, at, at + LOG_LEASE_SECONDS, id, fence).changes)),
    renew: ({ id, fence }) => write((at) => isHeld(renew.run(at + LOG_LEASE_SECONDS, id, fence).changes)),
    release: ({ id, fence }, problem) => write(() => void release.run(problem, id, fence)),
    readmit: (id) => write(() => isHeld(readmit.run(id).changes)),
    list: async () => (list.all(now(), LOG_LEASE_SECONDS) as StoredLog[]).map((row) => ({ ...row })),
  }
}
