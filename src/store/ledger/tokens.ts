/** Tokens of accounts. */

import type { Actor } from '../../accounts/audit.ts'
import {
  type NewToken,
  replacementExpiry,
  type Token,
  type TokenRejection,
  type TokenReplacement,
} from '../../accounts/token.ts'
import { type Instant, SECONDS_PER_DAY } from '../../values/time.ts'
import { auditAccount } from './audit.ts'
import { type LedgerRead, ledgerStatements, row, run, type Transaction } from './session.ts'

/** The columns of a token. */
export const TOKEN_COLUMNS = 'id, name, hint, created, expires, last_used, revoked'

/** A token that is active at the time of the parameter. */
export const isActiveSql = (parameter: string): string =>
  `revoked is null and (expires is null or expires > ${parameter})`

export const TOKENS = ledgerStatements('token', {
  all: `select ${TOKEN_COLUMNS} from token where account = $1 order by id`,
  insert: `insert into token (account, hash, name, hint, created, expires)
    select id, $2, $3, $4, $5, $6 from account where id = $1 returning ${TOKEN_COLUMNS}`,
  revoke: `update token set revoked = $3 where account = $1 and id = $2 and ${isActiveSql('$3')} returning name`,
  /** The second of two concurrent creations counts the token of the first. */
  lock: 'select id from account where id = $1 for update',
  recent: `select count(*) as tokens from token where account = $1 and (created > $3 or (${isActiveSql('$2')}))`,
  active: `select name, created, expires from token where account = $1 and id = $2 and ${isActiveSql('$3')}`,
  expire: 'update token set expires = $3 where account = $1 and id = $2 and (expires is null or expires > $3)',
})

export function tokenReads(read: LedgerRead) {
  return { tokens: (account: number) => read<Token>(TOKENS.all, [account]) }
}

type Rotation = { token: number; replacement: TokenReplacement; until: Instant }

export const tokenTransactions = {
  createToken: insertToken,

  *createTokenWithin(
    now: Instant,
    actor: Actor,
    max: number,
    account: number,
    token: NewToken,
  ): Transaction<Token | 'too_many_tokens'> {
    return (yield* countRecent(account, now)) < max ? yield* insertToken(now, actor, account, token) : 'too_many_tokens'
  },

  *rotateToken(
    now: Instant,
    actor: Actor,
    max: number,
    account: number,
    { token, replacement: { hash, hint }, until }: Rotation,
  ): Transaction<Token | TokenRejection> {
    const count = yield* countRecent(account, now)
    const former = yield* row<Pick<Token, 'name' | 'created' | 'expires'>>(TOKENS.active, [account, token, now])
    if (former === undefined) return 'unknown_token'
    if (count >= max) return 'too_many_tokens'
    const { name } = former
    const expires = replacementExpiry(former, now)
    yield* run(TOKENS.expire, [account, token, until])
    const created = (yield* row<Token>(TOKENS.insert, [account, hash, name, hint, now, expires]))!
    const details = { token, name, until, replacement: created.id, expires }
    yield* auditAccount(now, actor, 'token.rotate', account, details)
    return created
  },

  *revokeToken(now: Instant, actor: Actor, account: number, token: number): Transaction<boolean> {
    const revoked = yield* row<{ name: string }>(TOKENS.revoke, [account, token, now])
    if (revoked === undefined) return false
    yield* auditAccount(now, actor, 'token.revoke', account, { token, name: revoked.name })
    return true
  },
}

/** Throws if the account does not exist. */
export function* insertToken(
  now: Instant,
  actor: Actor,
  account: number,
  { hash, name, hint, expires }: NewToken,
): Transaction<Token> {
  const token = yield* row<Token>(TOKENS.insert, [account, hash, name, hint, now, expires])
  if (token === undefined) throw new Error(`there is no account ${account}`)
  yield* auditAccount(now, actor, 'token.create', account, { token: token.id, name, expires })
  return token
}

/** The tokens of an account that are active or less than a day old. Locks the account. */
function* countRecent(account: number, now: Instant): Transaction<number> {
  yield* run(TOKENS.lock, [account])
  return (yield* row<{ tokens: number }>(TOKENS.recent, [account, now, now - SECONDS_PER_DAY]))!.tokens
}
