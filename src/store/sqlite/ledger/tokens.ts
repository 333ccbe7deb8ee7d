/** Tokens on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { Actor } from '../../../accounts/audit.ts'
import { type NewToken, replacementExpiry, type Token, type TokenRejection } from '../../../accounts/token.ts'
import { type Instant, SECONDS_PER_DAY } from '../../../values/time.ts'
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
  const createToken = tokenInserter(database)
  const countRecent = recentTokenCounter(database)
  return {
    createToken,
    createTokenWithin(now: Instant, actor: Actor, max: number, account: number, token: StoredNewToken) {
      return countRecent(account, now) < max ? createToken(now, actor, account, token) : 'too_many_tokens'
    },
    rotateToken: tokenRotation(database, countRecent),
    revokeToken(now: Instant, actor: Actor, account: number, token: number): boolean {
      const revoked = revoke.get(now, token, account)
      if (revoked === undefined) return false
      ofAccount(now, actor, 'token.revoke', account, { token, name: revoked.name })
      return true
    },
  }
}

/** The tokens of an account that are active or less than a day old. */
function recentTokenCounter(database: DatabaseSync): (account: number, now: Instant) => number {
  const count = database.prepare(
    `select count(*) as tokens from token where account = ?1
     and (created > ?3 or (revoked is null and (expires is null or expires > ?2)))`,
  )
  return (account, now) => (count.get(account, now, now - SECONDS_PER_DAY) as { tokens: number }).tokens
}

export type StoredRotation = { token: number; replacement: { hint: string; hash: string }; until: Instant }

function tokenRotation(database: DatabaseSync, countRecent: ReturnType<typeof recentTokenCounter>) {
  const readActive = database.prepare(
    `select name, created, expires from token where id = ? and account = ?
     and revoked is null and (expires is null or expires > ?)`,
  )
  const expire = database.prepare('update token set expires = ?1 where id = ?2 and (expires is null or expires > ?1)')
  const insert = database.prepare(
    'insert into token (account, hash, name, hint, created, expires) values (?, unhex(?), ?, ?, ?, ?)',
  )
  const { ofAccount } = auditWrites(database)
  return (
    now: Instant,
    actor: Actor,
    max: number,
    account: number,
    { token, replacement: { hint, hash }, until }: StoredRotation,
  ): Token | TokenRejection => {
    const former = readActive.get(token, account, now) as Pick<Token, 'name' | 'created' | 'expires'> | undefined
    if (former === undefined) return 'unknown_token'
    if (countRecent(account, now) >= max) return 'too_many_tokens'
    const { name } = former
    const expires = replacementExpiry(former, now)
    expire.run(until, token)
    const id = Number(insert.run(account, hash, name, hint, now, expires).lastInsertRowid)
    ofAccount(now, actor, 'token.rotate', account, { token, name, until, replacement: id, expires })
    return { id, name, hint, created: now, expires, last_used: null, revoked: null }
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
