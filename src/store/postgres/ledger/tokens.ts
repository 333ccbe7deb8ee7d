/** Tokens on PostgreSQL. */

import type { Actor } from '../../../accounts/audit.ts'
import { isActive, type NewToken, replacementExpiry, type Token, type TokenRejection } from '../../../accounts/token.ts'
import { type Instant, SECONDS_PER_DAY } from '../../../values/time.ts'
import type { LedgerChanges } from '../../port/ledger.ts'
import type { Database } from '../database/database.ts'
import type { Session } from '../database/transaction.ts'
import { auditWriterOf, type WriteAuditEntry } from './audit.ts'

/** The columns of a token. */
export const TOKEN_COLUMNS = 'id, name, hint, created, expires, last_used, revoked'

const READ_TOKENS = { name: 'token.all', text: `select ${TOKEN_COLUMNS} from token where account = $1 order by id` }
const INSERT_TOKEN = {
  name: 'token.insert',
  text: `insert into token (account, hash, name, hint, created, expires)
    select id, $2, $3, $4, $5, $6 from account where id = $1 returning ${TOKEN_COLUMNS}`,
}
const REVOKE_TOKEN = {
  name: 'token.revoke',
  text: `update token set revoked = $3 where account = $1 and id = $2
    and revoked is null and (expires is null or expires > $3) returning name`,
}
/** Locks the account first, so that the second of two concurrent creations counts the token of the first. */
const LOCK_TOKENS = { name: 'token.lock', text: 'select id from account where id = $1 for update' }
const COUNT_RECENT_TOKENS = {
  name: 'token.recent',
  text: `select count(*) as tokens from token where account = $1
    and (created > $3 or (revoked is null and (expires is null or expires > $2)))`,
}
const EXPIRE_TOKEN = {
  name: 'token.expire',
  text: 'update token set expires = least(expires, $3) where account = $1 and id = $2',
}

export function postgresTokens({ read }: Pick<Database, 'read'>) {
  return {
    tokens: (account: number): Promise<Token[]> => read<Token>(READ_TOKENS, [account]),
  }
}

export function postgresTokenWrites(
  { transaction }: Pick<Database, 'transaction'>,
  actor: Actor,
): Pick<LedgerChanges, 'createToken' | 'createTokenWithin' | 'rotateToken' | 'revokeToken'> {
  return {
    createToken: (account, token, now) =>
      transaction((session) => insertToken(session, account, token, now, auditWriterOf(actor, now))),
    createTokenWithin: (max, account, token, now) =>
      transaction(async (session) => {
        if ((await countRecentTokens(session, account, now)) >= max) return 'too_many_tokens'
        return insertToken(session, account, token, now, auditWriterOf(actor, now))
      }),
    rotateToken: (max, account, rotation, now) =>
      transaction((session) => rotateToken(session, max, account, rotation, now, auditWriterOf(actor, now))),
    revokeToken: (account, token, now) =>
      transaction(async (session) => {
        const [revoked] = await session.rows<{ name: string }>(REVOKE_TOKEN, [account, token, now])
        if (revoked === undefined) return false
        await auditWriterOf(actor, now)(session, 'token.revoke', account, { token, name: revoked.name })
        return true
      }),
  }
}

/** The tokens of an account that are active or less than a day old. Locks the account. */
async function countRecentTokens(session: Session, account: number, now: Instant): Promise<number> {
  await session.run(LOCK_TOKENS, [account])
  const [row] = await session.rows<{ tokens: number }>(COUNT_RECENT_TOKENS, [account, now, now - SECONDS_PER_DAY])
  return row!.tokens
}

async function rotateToken(
  session: Session,
  max: number,
  account: number,
  { token, replacement, until }: Parameters<LedgerChanges['rotateToken']>[2],
  now: Instant,
  log: WriteAuditEntry,
): Promise<Token | TokenRejection> {
  const count = await countRecentTokens(session, account, now)
  const tokens = await session.rows<Token>(READ_TOKENS, [account])
  const former = tokens.find(({ id }) => id === token)
  if (former === undefined || !isActive(former, now)) return 'unknown_token'
  if (count >= max) return 'too_many_tokens'
  const { name } = former
  const expires = replacementExpiry(former, now)
  await session.run(EXPIRE_TOKEN, [account, token, until])
  const values = [account, replacement.hash, name, replacement.hint, now, expires]
  const [created] = await session.rows<Token>(INSERT_TOKEN, values)
  await log(session, 'token.rotate', account, { token, name, until, replacement: created!.id, expires })
  return created!
}

/** Throws if the account does not exist. */
export async function insertToken(
  session: Session,
  account: number,
  { hash, name, hint, expires }: NewToken,
  now: Instant,
  log: WriteAuditEntry,
): Promise<Token> {
  const [token] = await session.rows<Token>(INSERT_TOKEN, [account, hash, name, hint, now, expires])
  if (token === undefined) throw new Error(`there is no account ${account}`)
  await log(session, 'token.create', account, { token: token.id, name, expires })
  return token
}
