/** Passwords, sessions, one-time links and counts of attempts, on PostgreSQL. */

import type { Account } from '../../../accounts/account.ts'
import type { Actor } from '../../../accounts/audit.ts'
import {
  MAX_SESSIONS,
  type OneTimeLink,
  SESSION_IDLE_SECONDS,
  SESSION_MAX_SECONDS,
  type Session as WebSession,
} from '../../../accounts/session.ts'
import type { Instant } from '../../../values/time.ts'
import type { LedgerChanges } from '../../port/ledger.ts'
import type { AttemptLimit, SessionStanding, SignIns } from '../../port/sign-in.ts'
import type { Database } from '../database/database.ts'
import type { Session } from '../database/transaction.ts'
import { ACCOUNT_AS_JSON } from './accounts.ts'
import { auditWriterOf } from './audit.ts'

const SESSION_COLUMNS = 's.id, s.account, s.created, s.last_used, s.browser, s.address'
/** Expired rows that one write removes. */
const MAX_REMOVED = 100

const READ_PASSWORD = { name: 'password.read', text: 'select hash from account_password where account = $1' }
const READ_ACCOUNT = {
  name: 'account.by_id',
  text: `select ${ACCOUNT_AS_JSON} as account from account a where id = $1`,
}
const HAS_OPERATOR = {
  name: 'account.operator',
  text: `select 1 from account a join account_password p on p.account = a.id
    where a.role = 'admin' and a.suspended is null limit 1`,
}
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
const END_SESSIONS = {
  name: 'session.end_all',
  text: 'delete from session where account = $1 and id <> coalesce($2::integer, -1)',
}
const SET_PASSWORD = {
  name: 'password.set',
  text: `insert into account_password (account, hash, changed) select id, $2, $3 from account where id = $1
    on conflict (account) do update set hash = excluded.hash, changed = excluded.changed`,
}
const REMOVE_LINKS = { name: 'link.remove', text: 'delete from one_time_link where account = $1' }
const INSERT_LINK = {
  name: 'link.insert',
  text: 'insert into one_time_link (hash, kind, account, email, password, expires) values ($1, $2, $3, $4, $5, $6)',
}
const TAKE_LINK = {
  name: 'link.take',
  text: 'delete from one_time_link where hash = $1 and kind = $2 returning kind, account, email, password, expires',
}
/** Skips rows that another process removes. */
const REMOVE_EXPIRED_LINKS = {
  name: 'link.expired',
  text: `delete from one_time_link where hash in
    (select hash from one_time_link where expires <= $1 limit ${MAX_REMOVED} for update skip locked)`,
}
const COUNT_ATTEMPT = {
  name: 'attempt.count',
  text: `insert into attempt as a (key, count, ends) values ($1, 1, $2::bigint + $3::bigint)
    on conflict (key) do update set count = case when a.ends <= $2 then 1 else a.count + 1 end,
      ends = case when a.ends <= $2 then excluded.ends else a.ends end
    returning count`,
}
const REMOVE_ENDED_ATTEMPTS = {
  name: 'attempt.ended',
  text: `delete from attempt where key in
    (select key from attempt where ends <= $1 limit ${MAX_REMOVED} for update skip locked)`,
}
const READ_ATTEMPTS = {
  name: 'attempt.read',
  text: 'select key, count from attempt where key = any($1) and ends > $2',
}
const CLEAR_ATTEMPTS = { name: 'attempt.clear', text: 'delete from attempt where key = any($1)' }

export function postgresSignIns({ read, transaction }: Pick<Database, 'read' | 'transaction'>): SignIns {
  return {
    password: async (account) => (await read<{ hash: string }>(READ_PASSWORD, [account]))[0]?.hash ?? null,
    async accountById(account): Promise<Account | null> {
      const [row] = await read<{ account: string }>(READ_ACCOUNT, [account])
      return row === undefined ? null : JSON.parse(row.account)
    },
    hasOperator: async () => (await read(HAS_OPERATOR)).length > 0,
    ...sessions({ read, transaction }),
    ...links(transaction),
    ...attempts({ read, transaction }),
  }
}

function sessions({ read, transaction }: Pick<Database, 'read' | 'transaction'>) {
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

function links(transaction: Database['transaction']) {
  return {
    createLink: ({ hash, kind, account, email, password, expires }, now) =>
      transaction(async ({ run }) => {
        await run(REMOVE_EXPIRED_LINKS, [now])
        await run(INSERT_LINK, [hash, kind, account, email, password, expires])
      }),
    takeLink: (hash, kind, now) =>
      transaction(async ({ rows }) => {
        const [row] = await rows<OneTimeLink & { expires: Instant }>(TAKE_LINK, [hash, kind])
        if (row === undefined || row.expires <= now) return null
        const { account, email, password } = row
        return { kind, account, email, password }
      }),
  } satisfies Partial<SignIns>
}

function attempts({ read, transaction }: Pick<Database, 'read' | 'transaction'>) {
  return {
    async countAttempt(limits, now) {
      const counts = await transaction(({ rows }) => countInOrder(rows, limits, now))
      await transaction(({ run }) => run(REMOVE_ENDED_ATTEMPTS, [now]))
      return limits.map(({ key }) => counts.get(key)!)
    },
    async attempts(keys, now) {
      const rows = await read<{ key: string; count: number }>(READ_ATTEMPTS, [keys, now])
      const counts = new Map(rows.map(({ key, count }) => [key, count]))
      return keys.map((key) => counts.get(key) ?? 0)
    },
    clearAttempts: (keys) => transaction(async ({ run }) => void (await run(CLEAR_ATTEMPTS, [keys]))),
  } satisfies Partial<SignIns>
}

/** Counts in one order of keys, so that processes never wait for each other in a cycle. */
async function countInOrder(
  rows: Session['rows'],
  limits: readonly AttemptLimit[],
  now: Instant,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const { key, seconds } of [...limits].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const [row] = await rows<{ count: number }>(COUNT_ATTEMPT, [key, now, seconds])
    counts.set(key, row!.count)
  }
  return counts
}

/** The change of a password by an actor. */
export function postgresPasswordWrites(
  { transaction }: Pick<Database, 'transaction'>,
  actor: Actor,
): Pick<LedgerChanges, 'setPassword'> {
  return {
    setPassword: (account, hash, keep, now) =>
      transaction(async (session) => {
        if ((await session.run(SET_PASSWORD, [account, hash, now])) === 0) return false
        await session.run(END_SESSIONS, [account, keep])
        await session.run(REMOVE_LINKS, [account])
        await auditWriterOf(actor, now)(session, 'account.password', account, {})
        return true
      }),
  }
}
