/** Resolves a token to its account on PostgreSQL: one statement for token, account, periods and add-ons. */

import type { Token } from '../../../accounts/token.ts'
import type { TokenStanding } from '../../port/ledger.ts'
import type { Database } from '../database/database.ts'
import { ACCOUNT_AS_JSON } from './accounts.ts'
import { TOKEN_COLUMNS } from './tokens.ts'

const READ_TOKEN_STANDING = {
  name: 'standing',
  text: `select ${TOKEN_COLUMNS.replaceAll(/\w+/g, 't.$&')}, ${ACCOUNT_AS_JSON} as account
    from token t join account a on a.id = t.account where t.hash = $1`,
}

export function postgresTokenStanding({ read }: Pick<Database, 'read'>) {
  return {
    async findToken(hash: Uint8Array): Promise<TokenStanding | null> {
      const [row] = await read<Token & { account: string }>(READ_TOKEN_STANDING, [hash])
      if (row === undefined) return null
      const { account, ...token } = row
      return { account: JSON.parse(account), token }
    },
  }
}
