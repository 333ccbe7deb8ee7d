/** Links that are valid once, on PostgreSQL. */

import type { OneTimeLink } from '../../../../accounts/session.ts'
import type { Instant } from '../../../../values/time.ts'
import type { SignIns } from '../../../port/sign-in.ts'
import type { Database } from '../../database/database.ts'

/** Expired links that one write removes. */
const MAX_REMOVED = 100

const INSERT_LINK = {
  name: 'link.insert',
  text: 'insert into one_time_link (hash, kind, account, email, expires) values ($1, $2, $3, $4, $5)',
}
const TAKE_LINK = {
  name: 'link.take',
  text: 'delete from one_time_link where hash = $1 and kind = $2 returning kind, account, email, expires',
}
/** Skips rows that another process removes. */
const REMOVE_EXPIRED_LINKS = {
  name: 'link.expired',
  text: `delete from one_time_link where hash in
    (select hash from one_time_link where expires <= $1 limit ${MAX_REMOVED} for update skip locked)`,
}

export function links({ transaction }: Pick<Database, 'transaction'>) {
  return {
    createLink: ({ hash, kind, account, email, expires }, now) =>
      transaction(async ({ run }) => {
        await run(REMOVE_EXPIRED_LINKS, [now])
        await run(INSERT_LINK, [hash, kind, account, email, expires])
      }),
    takeLink: (hash, kind, now) =>
      transaction(async ({ rows }) => {
        const [row] = await rows<OneTimeLink & { expires: Instant }>(TAKE_LINK, [hash, kind])
        if (row === undefined || row.expires <= now) return null
        const { account, email } = row
        return { kind, account, email }
      }),
  } satisfies Partial<SignIns>
}
