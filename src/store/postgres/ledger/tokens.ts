/** Tokens on PostgreSQL. */

import type { Actor } from '../../../accounts/audit.ts'
import type { NewToken, Token } from '../../../accounts/token.ts'
import type { Instant } from '../../../values/time.ts'
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

export function postgresTokens({ read }: Pick<Database, 'read'>) {
  return {
    tokens: (account: number): Promise<Token[]> => read<Token>(READ_TOKENS, [account]),
  }
}

export function postgresTokenWrites(
  { transaction }: Pick<Database, 'transaction'>,
  actor: Actor,
): Pick<LedgerChanges, 'createToken' | 'revokeToken'> {
  return {
    createToken: (account, token, now) =>
      transaction((session) => insertToken(session, account, token, now, auditWriterOf(actor, now))),
    revokeToken: (account, token, now) =>
      transaction(async (session) => {
        const [revoked] = await session.rows<{ name: string }>(REVOKE_TOKEN, [account, token, now])
        if (revoked === undefined) return false
        await auditWriterOf(actor, now)(session, 'token.revoke', account, { token, name: revoked.name })
        return true
      }),
  }
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
