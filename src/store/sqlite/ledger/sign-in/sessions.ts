/** The sessions of the web page, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import {
  MAX_SESSIONS,
  type NewSession,
  SESSION_IDLE_SECONDS,
  SESSION_MAX_SECONDS,
  type WebSession,
} from '../../../../accounts/session.ts'
import type { Instant } from '../../../../values/time.ts'
import type { SessionStanding, SignIns } from '../../../port/sign-in.ts'
import { ACCOUNT_COLUMNS, type AccountRow, accountOfRow } from '../accounts.ts'
import type { StoredHash } from './stored-hash.ts'

const SESSION_COLUMNS = 's.id, s.account, s.created, s.last_used, s.browser, s.address'

type StandingRow = AccountRow & { session: number; sessionCreated: Instant } & Omit<WebSession, 'id' | 'created'>

export function sessionReads(database: DatabaseSync) {
  const standing = database.prepare(
    `select ${ACCOUNT_COLUMNS}, s.id as session, s.created as sessionCreated, s.account, s.last_used, s.browser, s.address
     from session s join account a on a.id = s.account where s.hash = ?`,
  )
  const all = database.prepare(`select ${SESSION_COLUMNS} from session s where s.account = ? order by s.id`)
  return {
    async findSession(hash): Promise<SessionStanding | null> {
      const row = standing.get(hash) as StandingRow | undefined
      if (row === undefined) return null
      const { session, sessionCreated, account, last_used, browser, address } = row
      return {
        account: accountOfRow(row),
        session: { id: session, account, created: sessionCreated, last_used, browser, address },
      }
    },
    sessions: async (account) => (all.all(account) as WebSession[]).map((row) => ({ ...row })),
  } satisfies Partial<SignIns>
}

export function sessionWrites(database: DatabaseSync) {
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
    createSession(now: Instant, { account, hash, browser, address }: StoredHash<NewSession>): WebSession {
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
export function sessionEnder(database: DatabaseSync) {
  const endAll = database.prepare('delete from session where account = ? and id <> coalesce(?, -1)')
  return (_now: Instant, account: number, except: number | null): void => void endAll.run(account, except)
}
