/** Who a token stands for, on SQLite: one statement for token, account, periods and add-ons. */

import type { DatabaseSync } from 'node:sqlite'
import type { Token } from '../../../accounts/token.ts'
import type { Instant } from '../../../words/time.ts'
import type { Standing } from '../../ledger.ts'
import { ACCOUNT_COLUMNS, type AccountRow, accountOf } from './accounts.ts'

type StandingRow = AccountRow & Omit<Token, 'id' | 'created'> & { token: number; made: Instant }

export function standingReads(database: DatabaseSync) {
  const read = database.prepare(
    `select ${ACCOUNT_COLUMNS}, t.id as token, t.name, t.hint, t.created as made, t.expires, t.last_used, t.revoked
     from token t join account a on a.id = t.account where t.hash = ?`,
  )
  return {
    standing(hash: Uint8Array): Standing | null {
      const row = read.get(hash) as StandingRow | undefined
      if (row === undefined) return null
      const { token: id, name, hint, made: created, expires, last_used, revoked } = row
      return { account: accountOf(row), token: { id, name, hint, created, expires, last_used, revoked } }
    },
  }
}
