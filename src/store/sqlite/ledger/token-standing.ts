/** Resolves a token to its account on SQLite: one statement for token, account, periods and add-ons. */

import type { DatabaseSync } from 'node:sqlite'
import type { Token } from '../../../accounts/token.ts'
import type { Instant } from '../../../values/time.ts'
import type { TokenStanding } from '../../port/ledger.ts'
import { ACCOUNT_COLUMNS, type AccountRow, accountOfRow } from './accounts.ts'

type TokenStandingRow = AccountRow & Omit<Token, 'id' | 'created'> & { token: number; tokenCreated: Instant }

export function tokenStandingReads(database: DatabaseSync) {
  const read = database.prepare(
    `select ${ACCOUNT_COLUMNS}, t.id as token, t.name, t.hint, t.created as tokenCreated, t.expires, t.last_used, t.revoked
     from token t join account a on a.id = t.account where t.hash = ?`,
  )
  return {
    standing(hash: Uint8Array): TokenStanding | null {
      const row = read.get(hash) as TokenStandingRow | undefined
      if (row === undefined) return null
      const { name, hint, expires, last_used, revoked } = row
      const token = { id: row.token, name, hint, created: row.tokenCreated, expires, last_used, revoked }
      return { account: accountOfRow(row), token }
    },
  }
}
