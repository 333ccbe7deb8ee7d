/** The sign-in of the web page: passwords, sessions, one-time links, and counts of attempts. */

import type { Actor } from '../../accounts/audit.ts'
import {
  type LinkKind,
  MAX_SESSIONS,
  type NewOneTimeLink,
  type NewSession,
  type OneTimeLink,
  SESSION_IDLE_SECONDS,
  SESSION_MAX_SECONDS,
  type WebSession,
} from '../../accounts/session.ts'
import type { Instant } from '../../values/time.ts'
import type { AttemptLimit, SessionStanding } from '../port/accounts/sign-in.ts'
import { type AccountRow, parseAccount } from './accounts.ts'
import { auditAccount } from './audit.ts'
import { type LedgerRead, ledgerStatements, row, run, type Transaction } from './session.ts'

const SESSION_COLUMNS = 'id, account, created, last_used, browser, address'

/** Ended counts, or expired links, that one write removes. */
const MAX_REMOVED = 100

/** The removals of others' rows come last in their transaction and skip locked ones: they never wait for a writer. */
export const SIGN_IN = ledgerStatements('sign-in', {
  password: 'select hash from account_password where account = $1',
  operator: `select 1 from account a join account_password p on p.account = a.id
    where a.role = 'admin' and a.suspended is null limit 1`,
  setPassword: `insert into account_password (account, hash, changed)
    select id, $2, cast($3 as bigint) from account where id = $1
    on conflict (account) do update set hash = excluded.hash, changed = excluded.changed`,
  removeLinks: 'delete from one_time_link where account = $1',

  standing: ({ accountJson }) =>
    `select ${SESSION_COLUMNS.replaceAll(/\w+/g, 's.$&')}, ${accountJson} as "accountJson"
     from session s join account a on a.id = s.account where s.hash = $1`,
  sessions: `select ${SESSION_COLUMNS} from session where account = $1 order by id`,
  /** Concurrent sign-ins keep the maximum, and a deleted account gets no session. */
  lockAccount: 'select id from account where id = $1 for no key update',
  removeEndedSessions: 'delete from session where account = $1 and (created <= $2 or last_used <= $3)',
  removeOldestSessions: `delete from session where account = $1 and id <=
    (select id from session where account = $1 order by id desc limit 1 offset ${MAX_SESSIONS - 1})`,
  insertSession: `insert into session (account, hash, created, last_used, browser, address)
    values ($1, $2, $3, $3, $4, $5) returning ${SESSION_COLUMNS}`,
  touchSession: 'update session set last_used = $2 where id = $1 and last_used < $2',
  endSession: 'delete from session where account = $1 and id = $2',
  endSessions: 'delete from session where account = $1 and id <> coalesce(cast($2 as integer), -1)',

  insertLink: 'insert into one_time_link (hash, kind, account, email, expires) values ($1, $2, $3, $4, $5)',
  takeLink: 'delete from one_time_link where hash = $1 and kind = $2 returning account, email, expires',
  removeExpiredLinks: `delete from one_time_link where hash in
    (select hash from one_time_link where expires <= $1 limit ${MAX_REMOVED} for update skip locked)`,

  attempts: 'select count from attempt where key = $1 and ends > $2',
  countAttempt: `insert into attempt (key, count, ends) values ($1, 1, cast($2 as bigint) + cast($3 as bigint))
    on conflict (key) do update set
      count = case when attempt.ends <= cast($2 as bigint) then 1 else attempt.count + 1 end,
      ends = case when attempt.ends <= cast($2 as bigint) then excluded.ends else attempt.ends end
    returning count`,
  removeEndedAttempts: `delete from attempt where key in
    (select key from attempt where ends <= $1 limit ${MAX_REMOVED} for update skip locked)`,
  clearAttempts: 'delete from attempt where key = $1',
})

export function signInReads(read: LedgerRead) {
  return {
    password: async (account: number) => (await read<{ hash: string }>(SIGN_IN.password, [account]))[0]?.hash ?? null,
    hasOperator: async () => (await read(SIGN_IN.operator)).length > 0,
    async findSession(hash: Uint8Array): Promise<SessionStanding | null> {
      const [found] = await read<WebSession & { accountJson: AccountRow['account'] }>(SIGN_IN.standing, [hash])
      if (found === undefined) return null
      const { accountJson, ...session } = found
      return { account: parseAccount({ account: accountJson }), session }
    },
    sessions: (account: number) => read<WebSession>(SIGN_IN.sessions, [account]),
    attempts: (keys: readonly string[], now: Instant) =>
      Promise.all(
        keys.map(async (key) => (await read<{ count: number }>(SIGN_IN.attempts, [key, now]))[0]?.count ?? 0),
      ),
  }
}

export const signInTransactions = {
  *setPassword(now: Instant, actor: Actor, account: number, hash: string, keep: number | null): Transaction<boolean> {
    if ((yield* run(SIGN_IN.setPassword, [account, hash, now])) === 0) return false
    yield* run(SIGN_IN.endSessions, [account, keep])
    yield* run(SIGN_IN.removeLinks, [account])
    yield* auditAccount(now, actor, 'account.password', account, {})
    return true
  },

  *createSession(now: Instant, { account, hash, browser, address }: NewSession): Transaction<WebSession> {
    if ((yield* row(SIGN_IN.lockAccount, [account])) === undefined) throw new Error(`there is no account ${account}`)
    yield* run(SIGN_IN.removeEndedSessions, [account, now - SESSION_MAX_SECONDS, now - SESSION_IDLE_SECONDS])
    yield* run(SIGN_IN.removeOldestSessions, [account])
    return (yield* row<WebSession>(SIGN_IN.insertSession, [account, hash, now, browser, address]))!
  },
  *touchSession(now: Instant, session: number): Transaction<void> {
    yield* run(SIGN_IN.touchSession, [session, now])
  },
  *endSession(_now: Instant, account: number, session: number): Transaction<boolean> {
    return (yield* run(SIGN_IN.endSession, [account, session])) === 1
  },
  *endSessions(_now: Instant, account: number, except: number | null): Transaction<void> {
    yield* run(SIGN_IN.endSessions, [account, except])
  },

  *createLink(now: Instant, { hash, kind, account, email, expires }: NewOneTimeLink): Transaction<void> {
    yield* run(SIGN_IN.insertLink, [hash, kind, account, email, expires])
    yield* run(SIGN_IN.removeExpiredLinks, [now])
  },
  *takeLink(now: Instant, hash: Uint8Array, kind: LinkKind): Transaction<OneTimeLink | null> {
    const link = yield* row<Omit<OneTimeLink, 'kind'> & { expires: Instant }>(SIGN_IN.takeLink, [hash, kind])
    return link === undefined || link.expires <= now ? null : { kind, account: link.account, email: link.email }
  },

  /** Counts in one order of keys, so that processes never wait for each other in a cycle. */
  *countAttempt(now: Instant, limits: readonly AttemptLimit[]): Transaction<number[]> {
    const counts = new Map<string, number>()
    for (const { key, seconds } of limits.toSorted((a, b) => (a.key < b.key ? -1 : 1)))
      counts.set(key, (yield* row<{ count: number }>(SIGN_IN.countAttempt, [key, now, seconds]))!.count)
    yield* run(SIGN_IN.removeEndedAttempts, [now])
    return limits.map(({ key }) => counts.get(key)!)
  },
  *clearAttempts(_now: Instant, keys: readonly string[]): Transaction<void> {
    for (const key of keys.toSorted()) yield* run(SIGN_IN.clearAttempts, [key])
  },
}
