/** The passwords of accounts, on PostgreSQL. */

import type { Account } from '../../../../accounts/account.ts'
import type { Actor } from '../../../../accounts/audit.ts'
import type { LedgerChanges } from '../../../port/ledger.ts'
import type { SignIns } from '../../../port/sign-in.ts'
import type { Database } from '../../database/database.ts'
import { ACCOUNT_AS_JSON } from '../accounts.ts'
import { auditWriterOf } from '../audit.ts'
import { END_SESSIONS } from './sessions.ts'

const READ_PASSWORD = { name: 'password.read', text: 'select hash from account_password where account = $1' }
const READ_ACCOUNT = {
  name: 'account.by_id',
  text: `select ${ACCOUNT_AS_JSON} as account from account a where id = $1`,
}
const HAS_OPERATOR = {
  name: 'account.operator',
  text: `select 1 from account a join account_password p on p.account = a.id
    where a.role = 'admin' and a.suspended is null limit 1`,
}
const SET_PASSWORD = {
  name: 'password.set',
  text: `insert into account_password (account, hash, changed) select id, $2, $3 from account where id = $1
    on conflict (account) do update set hash = excluded.hash, changed = excluded.changed`,
}
const REMOVE_LINKS = { name: 'link.remove', text: 'delete from one_time_link where account = $1' }

export function passwordReads({ read }: Pick<Database, 'read'>) {
  return {
    password: async (account) => (await read<{ hash: string }>(READ_PASSWORD, [account]))[0]?.hash ?? null,
    async accountById(account): Promise<Account | null> {
      const [row] = await read<{ account: string }>(READ_ACCOUNT, [account])
      return row === undefined ? null : JSON.parse(row.account)
    },
    hasOperator: async () => (await read(HAS_OPERATOR)).length > 0,
  } satisfies Partial<SignIns>
}

/** The change of a password by an actor. */
export function postgresPasswordWrites(
  { transaction }: Pick<Database, 'transaction'>,
  actor: Actor,
): Pick<LedgerChanges, 'setPassword'> {
  return {
    setPassword: (account, hash, keep, now) =>
      transaction(async (session) => {
        if ((await session.run(SET_PASSWORD, [account, hash, now])) === 0) return false
        await session.run(END_SESSIONS, [account, keep])
        await session.run(REMOVE_LINKS, [account])
        await auditWriterOf(actor, now)(session, 'account.password', account, {})
        return true
      }),
  }
}
