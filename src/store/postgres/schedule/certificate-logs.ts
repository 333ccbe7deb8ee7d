/** Certificate logs on PostgreSQL: the row lock of a log determines its holder. */

import type { Instant } from '../../../values/time.ts'
import { type CertificateLogs, LOG_LEASE_SECONDS, type StoredLog } from '../../port/certificate-logs.ts'
import { clockTableSql } from '../database/clock.ts'
import type { Database } from '../database/database.ts'

/** `$1` the time, null for the server's. */
const LOG_CLOCK = clockTableSql('$1')
/**
 * `$2` LOG_LEASE_SECONDS. The lease has not expired. An expiry beyond the longest possible one was written before the
 * clock was set back.
 */
const LOG_IS_HELD = 'l.holder is not null and l.expires_at > now and l.expires_at <= now + $2::bigint'
const LEASE_IS_VALID = 'l.holder is not null and l.id = $3 and l.fence = $4::bigint'

const ADD_LOG = {
  name: 'certificate-log.add',
  text: 'insert into certificate_log (id, url) values ($1, $2) on conflict (id) do update set url = excluded.url',
}
const LEASE_LOG = {
  name: 'certificate-log.lease',
  text: `with ${LOG_CLOCK} update certificate_log l set holder = $4, fence = l.fence + 1, expires_at = now + $2::bigint from clock
    where l.id = $3 and l.problem is null and not coalesce(${LOG_IS_HELD}, false) returning l.fence, l.state`,
}
const SAVE_LOG = {
  name: 'certificate-log.save',
  text: `with ${LOG_CLOCK} update certificate_log l set state = $5, saved_at = now, expires_at = now + $2::bigint from clock
    where ${LEASE_IS_VALID} returning l.id`,
}
const RENEW_LOG = {
  name: 'certificate-log.renew',
  text: `with ${LOG_CLOCK} update certificate_log l set expires_at = now + $2::bigint from clock where ${LEASE_IS_VALID} returning l.id`,
}
const RELEASE_LOG = {
  name: 'certificate-log.release',
  text: `update certificate_log set holder = null, expires_at = null, problem = $3
    where id = $1 and fence = $2::bigint and holder is not null`,
}
const READMIT_LOG = {
  name: 'certificate-log.readmit',
  text: 'update certificate_log set problem = null, state = null where id = $1 and problem is not null returning id',
}
const LIST_LOGS = {
  name: 'certificate-log.list',
  text: `with ${LOG_CLOCK} select l.id, l.url, l.state, l.saved_at as "savedAt", l.problem,
      case when ${LOG_IS_HELD} then l.holder end as holder
    from certificate_log l, clock order by l.url, l.id`,
}

/** `now`: defaults to the server's clock. */
export function postgresCertificateLogs({ read, transaction }: Database, now?: () => Instant): CertificateLogs {
  const time = (): number | null => now?.() ?? null
  return {
    lease: ({ id, url }, holder) =>
      transaction(async ({ rows, run }) => {
        await run(ADD_LOG, [id, url])
        const values = [time(), LOG_LEASE_SECONDS, id, holder]
        const [row] = await rows<{ fence: number; state: string | null }>(LEASE_LOG, values)
        return row === undefined ? null : { lease: { id, fence: row.fence }, state: row.state }
      }),
    save: ({ id, fence }, state) =>
      transaction(
        async ({ rows }) => (await rows(SAVE_LOG, [time(), LOG_LEASE_SECONDS, id, fence, state])).length === 1,
      ),
    renew: ({ id, fence }) =>
      transaction(async ({ rows }) => (await rows(RENEW_LOG, [time(), LOG_LEASE_SECONDS, id, fence])).length === 1),
    release: ({ id, fence }, problem) =>
      transaction(async ({ run }) => void (await run(RELEASE_LOG, [id, fence, problem]))),
    readmit: (id) => transaction(async ({ rows }) => (await rows(READMIT_LOG, [id])).length === 1),
    list: () => read<StoredLog>(LIST_LOGS, [time(), LOG_LEASE_SECONDS]),
  }
}
