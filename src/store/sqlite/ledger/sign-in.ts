/** Passwords, sessions, one-time links and counts of attempts, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { Account } from '../../../accounts/account.ts'
import type { Actor } from '../../../accounts/audit.ts'
import {
  type LinkKind,
  MAX_SESSIONS,
  type NewOneTimeLink,
  type NewSession,
  type OneTimeLink,
  SESSION_IDLE_SECONDS,
  SESSION_MAX_SECONDS,
  type Session,
} from '../../../accounts/session.ts'
import type { Instant } from '../../../values/time.ts'
import type { AttemptLimit, SessionStanding, SignIns } from '../../port/sign-in.ts'
import { ACCOUNT_COLUMNS, type AccountRow, accountOfRow } from './accounts.ts'
import { auditWrites } from './audit.ts'
import type { LedgerWrite } from './writing/calls.ts'

/** A hash in hexadecimal, so that it can be sent through any channel. */
type StoredHash<Value extends { hash: Uint8Array }> = Omit<Value, 'hash'> & { hash: string }

const SESSION_COLUMNS = 's.id, s.account, s.created, s.last_used, s.browser, s.address'
/** Expired rows that one write removes. */
const MAX_REMOVED = 100

type StandingRow = AccountRow & { session: number; sessionCreated: Instant } & Omit<Session, 'id' | 'created'>

export function signInReads(database: DatabaseSync) {
  const password = database.prepare('select hash from account_password where account = ?')
  const byId = database.prepare(`select ${ACCOUNT_COLUMNS} from account a where a.id = ?`)
  const operator = database.prepare(
    `select 1 from account a join account_password p on p.account = a.id
     where a.role = 'admin' and a.suspended is null limit 1`,
  )
  const standing = database.prepare(
    `select ${ACCOUNT_COLUMNS}, s.id as session, s.created as sessionCreated, s.account, s.last_used, s.browser, s.address
     from session s join account a on a.id = s.account where s.hash = ?`,
  )
  const all = database.prepare(`select ${SESSION_COLUMNS} from session s where s.account = ? order by s.id`)
  const attempt = database.prepare('select count from attempt where key = ? and ends > ?')
  return {
    password: async (account) => (password.get(account)?.hash ?? null) as string | null,
    async accountById(account): Promise<Account | null> {
      const row = byId.get(account) as AccountRow | undefined
      return row === undefined ? null : accountOfRow(row)
    },
    hasOperator: async () => operator.get() !== undefined,
    async findSession(hash): Promise<SessionStanding | null> {
      const row = standing.get(hash) as StandingRow | undefined
      if (row === undefined) return null
      const { session, sessionCreated, account, last_used, browser, address } = row
      return {
        account: accountOfRow(row),
        session: { id: session, account, created: sessionCreated, last_used, browser, address },
      }
    },
    sessions: async (account) => (all.all(account) as Session[]).map((row) => ({ ...row })),
    attempts: async (keys, now) => keys.map((key) => (attempt.get(key, now)?.count ?? 0) as number),
  } satisfies Partial<SignIns>
}

/** The writes as calls of the process that writes the ledger. */
export function signInCalls(write: LedgerWrite) {
  return {
    createSession: (session, now) => write('createSession', [withHexHash(session)], now),
    touchSession: (session, now) => write('touchSession', [session], now),
    endSession: (account, session) => write('endSession', [account, session]),
    endSessions: (account, except) => write('endSessions', [account, except]),
    createLink: (link, now) => write('createLink', [withHexHash(link)], now),
    takeLink: (hash, kind, now) => write('takeLink', [Buffer.from(hash).toString('hex'), kind], now),
    countAttempt: (limits, now) => write('countAttempt', [limits], now),
    clearAttempts: (keys) => write('clearAttempts', [keys]),
  } satisfies Partial<SignIns>
}

function withHexHash<Value extends { hash: Uint8Array }>(value: Value): StoredHash<Value> {
  return { ...value, hash: Buffer.from(value.hash).toString('hex') }
}

export function signInWrites(database: DatabaseSync) {
  return {
    ...sessionWrites(database),
    ...passwordWrites(database),
    ...linkWrites(database),
    ...attemptWrites(database),
  }
}

function sessionWrites(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into session (account, hash, created, last_used, browser, address)
     select id, unhex(?2), ?3, ?3, ?4, ?5 from account where id = ?1`,
  )
  const removeEnded = database.prepare('delete from session where account = ? and (created <= ? or last_used <= ?)')
  const removeOldest = database.prepare(
    `delete from session where id in (select id from session where account = ? order by id desc limit -1 offset ${MAX_SESSIONS - 1})`,
  )
  const touch = database.prepare('update session set last_used = max(last_used, ?1) where id = ?2')
  const end = database.prepare('delete from session where account = ? and id = ?')
  return {
    createSession(now: Instant, { account, hash, browser, address }: StoredHash<NewSession>): Session {
      removeEnded.run(account, now - SESSION_MAX_SECONDS, now - SESSION_IDLE_SECONDS)
      removeOldest.run(account)
      const { changes, lastInsertRowid } = insert.run(account, hash, now, browser, address)
      if (changes === 0) throw new Error(`there is no account ${account}`)
      return { id: Number(lastInsertRowid), account, created: now, last_used: now, browser, address }
    },
    touchSession: (now: Instant, session: number): void => void touch.run(now, session),
    endSession: (_now: Instant, account: number, session: number): boolean => end.run(account, session).changes === 1,
    endSessions: sessionEnder(database),
  }
}

/** Ends all sessions of an account except one; null: all. */
function sessionEnder(database: DatabaseSync) {
  const endAll = database.prepare('delete from session where account = ? and id <> coalesce(?, -1)')
  return (_now: Instant, account: number, except: number | null): void => void endAll.run(account, except)
}

function passwordWrites(database: DatabaseSync) {
  const set = database.prepare(
    `insert into account_password (account, hash, changed) select id, ?2, ?3 from account where id = ?1
     on conflict do update set hash = excluded.hash, changed = excluded.changed`,
  )
  const endSessions = sessionEnder(database)
  const removeLinks = database.prepare('delete from one_time_link where account = ?')
  const { ofAccount } = auditWrites(database)
  return {
    setPassword(now: Instant, actor: Actor, account: number, hash: string, keep: number | null): boolean {
      if (set.run(account, hash, now).changes === 0) return false
      endSessions(now, account, keep)
      removeLinks.run(account)
      ofAccount(now, actor, 'account.password', account, {})
      return true
    },
  }
}

function linkWrites(database: DatabaseSync) {
  const insert = database.prepare(
    'insert into one_time_link (hash, kind, account, email, password, expires) values (unhex(?), ?, ?, ?, ?, ?)',
  )
  const take = database.prepare(
    'delete from one_time_link where hash = unhex(?) and kind = ? returning kind, account, email, password, expires',
  )
  const removeExpired = database.prepare(
    `delete from one_time_link where hash in (select hash from one_time_link where expires <= ? limit ${MAX_REMOVED})`,
  )
  return {
    createLink(now: Instant, { hash, kind, account, email, password, expires }: StoredHash<NewOneTimeLink>): void {
      removeExpired.run(now)
      insert.run(hash, kind, account, email, password, expires)
    },
    takeLink(now: Instant, hash: string, kind: LinkKind): OneTimeLink | null {
      const row = take.get(hash, kind) as (OneTimeLink & { expires: Instant }) | undefined
      if (row === undefined || row.expires <= now) return null
      const { account, email, password } = row
      return { kind, account, email, password }
    },
  }
}

function attemptWrites(database: DatabaseSync) {
  const add = database.prepare(
    `insert into attempt (key, count, ends) values (?1, 1, ?2 + ?3) on conflict do update set
       count = case when ends <= ?2 then 1 else count + 1 end, ends = case when ends <= ?2 then ?2 + ?3 else ends end
     returning count`,
  )
  const removeEnded = database.prepare(
    `delete from attempt where key in (select key from attempt where ends <= ? limit ${MAX_REMOVED})`,
  )
  const remove = database.prepare('delete from attempt where key = ?')
  return {
    countAttempt(now: Instant, limits: readonly AttemptLimit[]): number[] {
      removeEnded.run(now)
      return limits.map(({ key, seconds }) => add.get(key, now, seconds)!.count as number)
    },
    clearAttempts(_now: Instant, keys: readonly string[]): void {
      for (const key of keys) remove.run(key)
    },
  }
}
