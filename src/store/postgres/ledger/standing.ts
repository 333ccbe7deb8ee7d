/** Who a token stands for, on PostgreSQL: one statement for token, account, periods and add-ons. */

import type { Token } from '../../../accounts/token.ts'
import type { Standing } from '../../ledger.ts'
import type { Database } from '../database.ts'
import { ACCOUNT } from './accounts.ts'
import { TOKEN } from './tokens.ts'

const READ = {
  name: 'standing',
  text: `select ${TOKEN.replaceAll(/\w+/g, 't.$&')}, ${ACCOUNT} as account
    from token t join account a on a.id = t.account where t.hash = $1`,
}

export function standingOf({ read }: Pick<Database, 'read'>) {
  return {
    async standing(hash: Uint8Array): Promise<Standing | null> {
      const [row] = await read<Token & { account: string }>(READ, [hash])
      if (row === undefined) return null
      const { account, ...token } = row
      return { account: JSON.parse(account), token }
    },
  }
}
