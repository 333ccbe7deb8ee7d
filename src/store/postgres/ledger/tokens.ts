/** Tokens on PostgreSQL. */

import type { NewToken, Token } from '../../../accounts/token.ts'
import type { Instant } from '../../../words/time.ts'
import type { Database } from '../database.ts'
import type { Session } from '../writer.ts'

/** The columns of a token. */
export const TOKEN = 'id, name, hint, created, expires, last_used, revoked'

const ALL = { name: 'token.all', text: `select ${TOKEN} from token where account = $1 order by id` }
const INSERT = {
  name: 'token.insert',
  text: `insert into token (account, hash, name, hint, created, expires)
    select id, $2, $3, $4, $5, $6 from account where id = $1 returning ${TOKEN}`,
}
const REVOKE = {
  name: 'token.revoke',
  text: `update token set revoked = $3 where account = $1 and id = $2
    and revoked is null and (expires is null or expires > $3)`,
}

export function tokensOf({ read, transaction }: Pick<Database, 'read' | 'transaction'>) {
  return {
    tokens: (account: number): Promise<Token[]> => read<Token>(ALL, [account]),
    createToken: (account: number, token: NewToken, now: Instant): Promise<Token> =>
      transaction((session) => insertToken(session, account, token, now)),
    revokeToken: (account: number, token: number, now: Instant): Promise<boolean> =>
      transaction(async ({ run }) => (await run(REVOKE, [account, token, now])) === 1),
  }
}

/** Throws where there is no such account. */
export async function insertToken(
  { rows }: Session,
  account: number,
  { hash, name, hint, expires }: NewToken,
  now: Instant,
): Promise<Token> {
  const [token] = await rows<Token>(INSERT, [account, hash, name, hint, now, expires])
  if (token === undefined) throw new Error(`there is no account ${account}`)
  return token
}
