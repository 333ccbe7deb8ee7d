/** Tokens on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../../accounts/audit.ts'
import type { NewToken, Token } from '../../../accounts/token.ts'
import type { Instant } from '../../../values/time.ts'
import { auditWrites } from './audit.ts'

/** A new token with its hash in hexadecimal, so that it can be sent through any channel. */
export type StoredNewToken = Omit<NewToken, 'hash'> & { hash: string }

export function tokenReads(database: DatabaseSync) {
  const readAll = database.prepare(
    'select id, name, hint, created, expires, last_used, revoked from token where account = ? order by id',
  )
  return {
    tokens: (account: number): Token[] => (readAll.all(account) as Token[]).map((row) => ({ ...row })),
  }
}

export function sqliteTokenWrites(database: DatabaseSync) {
  const revoke = database.prepare(
    `update token set revoked = ?1 where id = ?2 and account = ?3
     and revoked is null and (expires is null or expires > ?1) returning name`,
  )
  const { ofAccount } = auditWrites(database)
  return {
    createToken: tokenInserter(database),
    revokeToken(now: Instant, actor: Actor, account: number, token: number): boolean {
      const revoked = revoke.get(now, token, account)
      if (revoked === undefined) return false
      ofAccount(now, actor, 'token.revoke', account, { token, name: revoked.name })
      return true
    },
  }
}

/** Throws if the account does not exist. */
export function tokenInserter(database: DatabaseSync) {
  const insert = database.prepare(
    `insert into token (account, hash, name, hint, created, expires)
     select id, unhex(?2), ?3, ?4, ?5, ?6 from account where id = ?1`,
  )
  const { ofAccount } = auditWrites(database)
  return (now: Instant, actor: Actor, account: number, { hash, name, hint, expires }: StoredNewToken): Token => {
    const { changes, lastInsertRowid } = insert.run(account, hash, name, hint, now, expires)
    if (changes === 0) throw new Error(`there is no account ${account}`)
    const id = Number(lastInsertRowid)
    ofAccount(now, actor, 'token.create', account, { token: id, name, expires })
    return { id, name, hint, created: now, expires, last_used: null, revoked: null }
  }
}
