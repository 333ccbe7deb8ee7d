/** The passwords of accounts, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { Account } from '../../../../accounts/account.ts'
import type { Actor } from '../../../../accounts/audit.ts'
import type { Instant } from '../../../../values/time.ts'
import type { SignIns } from '../../../port/sign-in.ts'
import { ACCOUNT_COLUMNS, type AccountRow, accountOfRow } from '../accounts.ts'
import { auditWrites } from '../audit.ts'
import { sessionEnder } from './sessions.ts'

export function passwordReads(database: DatabaseSync) {
  const password = database.prepare('select hash from account_password where account = ?')
  const byId = database.prepare(`select ${ACCOUNT_COLUMNS} from account a where a.id = ?`)
  const operator = database.prepare(
    `select 1 from account a join account_password p on p.account = a.id
     where a.role = 'admin' and a.suspended is null limit 1`,
  )
  return {
    password: async (account) => (password.get(account)?.hash ?? null) as string | null,
    async accountById(account): Promise<Account | null> {
      const row = byId.get(account) as AccountRow | undefined
      return row === undefined ? null : accountOfRow(row)
    },
    hasOperator: async () => operator.get() !== undefined,
  } satisfies Partial<SignIns>
}

export function passwordWrites(database: DatabaseSync) {
  const set = database.prepare(
    `insert into account_password (account, hash, changed) select id, ?2, ?3 from account where id = ?1
     on conflict do update set hash = excluded.hash, changed = excluded.changed`,
  )
  const endSessions = sessionEnder(database)
  const removeLinks = database.prepare('delete from one_time_link where account = ?')
  const { ofAccount } = auditWrites(database)
  return {
    setPassword(now: Instant, actor: Actor, account: number, hash: string, keep: number | null): boolean {
      if (set.run(account, hash, now).changes === 0) return false
      endSessions(now, account, keep)
      removeLinks.run(account)
      ofAccount(now, actor, 'account.password', account, {})
      return true
    },
  }
}
