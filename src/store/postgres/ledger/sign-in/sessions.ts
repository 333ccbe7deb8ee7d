/** The sessions of the web page, on PostgreSQL. */

import {
  MAX_SESSIONS,
  SESSION_IDLE_SECONDS,
  SESSION_MAX_SECONDS,
  type WebSession,
} from '../../../../accounts/session.ts'
import type { SessionStanding, SignIns } from '../../../port/sign-in.ts'
import type { Database } from '../../database/database.ts'
import { ACCOUNT_AS_JSON } from '../accounts.ts'

const SESSION_COLUMNS = 's.id, s.account, s.created, s.last_used, s.browser, s.address'
const READ_STANDING = {
  name: 'session.standing',
  text: `select ${SESSION_COLUMNS}, ${ACCOUNT_AS_JSON} as "accountJson"
    from session s join account a on a.id = s.account where s.hash = $1`,
}
const READ_SESSIONS = {
  name: 'session.all',
  text: `select ${SESSION_COLUMNS} from session s where s.account = $1 order by s.id`,
}
/** Locks the account, so that concurrent sign-ins keep the maximum, and a deleted account gets no session. */
const LOCK_ACCOUNT = { name: 'session.account', text: 'select id from account where id = $1 for no key update' }
const REMOVE_ENDED_SESSIONS = {
  name: 'session.ended',
  text: 'delete from session where account = $1 and (created <= $2 or last_used <= $3)',
}
const REMOVE_OLDEST_SESSIONS = {
  name: 'session.oldest',
  text: `delete from session where id in
    (select id from session where account = $1 order by id desc offset ${MAX_SESSIONS - 1})`,
}
const INSERT_SESSION = {
  name: 'session.insert',
  text: `insert into session as s (account, hash, created, last_used, browser, address) values ($1, $2, $3, $3, $4, $5)
    returning ${SESSION_COLUMNS}`,
}
const TOUCH_SESSION = {
  name: 'session.touch',
  text: 'update session set last_used = greatest(last_used, $2) where id = $1',
}
const END_SESSION = { name: 'session.end', text: 'delete from session where account = $1 and id = $2' }
export const END_SESSIONS = {
  name: 'session.end_all',
  text: 'delete from session where account = $1 and id <> coalesce($2::integer, -1)',
}

export function sessions({ read, transaction }: Pick<Database, 'read' | 'transaction'>) {
  return {
    async findSession(hash): Promise<SessionStanding | null> {
      const [row] = await read<WebSession & { accountJson: string }>(READ_STANDING, [hash])
      if (row === undefined) return null
      const { accountJson, ...session } = row
      return { account: JSON.parse(accountJson), session }
    },
    sessions: (account) => read<WebSession>(READ_SESSIONS, [account]),
    createSession: ({ account, hash, browser, address }, now) =>
      transaction(async ({ rows, run }) => {
        if ((await rows(LOCK_ACCOUNT, [account])).length === 0) throw new Error(`there is no account ${account}`)
        await run(REMOVE_ENDED_SESSIONS, [account, now - SESSION_MAX_SECONDS, now - SESSION_IDLE_SECONDS])
        await run(REMOVE_OLDEST_SESSIONS, [account])
        const [created] = await rows<WebSession>(INSERT_SESSION, [account, hash, now, browser, address])
        return created!
      }),
    touchSession: (session, now) => transaction(async ({ run }) => void (await run(TOUCH_SESSION, [session, now]))),
    endSession: (account, session) =>
      transaction(async ({ run }) => (await run(END_SESSION, [account, session])) === 1),
    endSessions: (account, except) => transaction(async ({ run }) => void (await run(END_SESSIONS, [account, except]))),
  } satisfies Partial<SignIns>
}
