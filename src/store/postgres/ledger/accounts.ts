/** Accounts with their periods and add-ons, on PostgreSQL. */

import type { Account, Addon, NewAccount, Plan, Role } from '../../../accounts/account.ts'
import type { Period } from '../../../accounts/period.ts'
import type { NewToken } from '../../../accounts/token.ts'
import type { Day, Instant } from '../../../words/time.ts'
import type { Database } from '../database.ts'
import type { Session } from '../writer.ts'
import { insertToken } from './tokens.ts'

/** An account `a` as JSON, with its periods and add-ons. */
export const ACCOUNT = `json_build_object('id', a.id, 'email', a.email, 'role', a.role, 'plan', a.plan, 'created', a.created,
  'periods', coalesce((select json_agg(json_build_object('plan', plan, 'first', first, 'last', last) order by first)
    from period where account = a.id), '[]'),
  'addons', coalesce((select json_agg(addon order by addon) from addon where account = a.id), '[]'))::text`

type Row = { account: string }

const BY_EMAIL = {
  name: 'account.by_email',
  text: `select ${ACCOUNT} as account from account a where lower(email) = lower($1 collate "C")`,
}
const BY_NUMBER = { name: 'account.by_number', text: `select ${ACCOUNT} as account from account a where id = $1` }
const PAGE = {
  name: 'account.page',
  text: `select ${ACCOUNT} as account from account a where lower(email) > lower($1 collate "C") order by lower(email) limit $2`,
}
const INSERT = {
  name: 'account.insert',
  text: 'insert into account (email, role, plan, created) values ($1, $2, $3, $4) on conflict do nothing returning id',
}
const SET_PLAN = { name: 'account.plan', text: 'update account set plan = $2 where id = $1' }
const SET_ROLE = { name: 'account.role', text: 'update account set role = $2 where id = $1' }
/** Whoever adds a period has its account locked, so that of two at the same time the second one sees the first. */
const LOCK = { name: 'account.lock', text: 'select id from account where id = $1 for update' }
const ADD_PERIOD = {
  name: 'period.insert',
  text: `insert into period (account, first, last, plan) select a.id, $2, $3, $4 from account a
    where a.id = $1 and not exists (select 1 from period where account = a.id
      and first <= coalesce($3, '9999-12-31') and $2 <= coalesce(last, '9999-12-31'))`,
}
const REMOVE_PERIOD = { name: 'period.delete', text: 'delete from period where account = $1 and first = $2' }
const ADD_ADDON = {
  name: 'addon.insert',
  text: 'insert into addon (account, addon) select id, $2 from account where id = $1 on conflict do nothing',
}
const REMOVE_ADDON = { name: 'addon.delete', text: 'delete from addon where account = $1 and addon = $2' }
/** Budgets before holds, and the account before what it asked for, as everyone locks them; periods, add-ons, tokens and usage go with their account. */
const DELETIONS = [
  'budget where account',
  'hold where account',
  'download where account',
  'account where id',
  'asking where account',
].map((what) => ({
  name: `account.delete_${what.split(' ')[0]}`,
  text: `delete from ${what} = $1`,
}))

export function accountReads({ read }: Pick<Database, 'read'>) {
  return {
    async account(email: string): Promise<Account | null> {
      const [row] = await read<Row>(BY_EMAIL, [email])
      return row === undefined ? null : accountOf(row)
    },
    accounts: async (after: string | null, limit: number): Promise<Account[]> =>
      (await read<Row>(PAGE, [after ?? '', limit])).map(accountOf),
  }
}

export function accountWrites({ transaction }: Pick<Database, 'transaction'>) {
  const set = (statement: { name: string; text: string }, values: unknown[]): Promise<void> =>
    transaction(async ({ run }) => void (await run(statement, values)))
  return {
    createAccount: (account: NewAccount, now: Instant, token?: NewToken): Promise<Account | null> =>
      transaction((session) => insertAccount(session, account, now, token)),
    setPlan: (account: number, plan: Plan): Promise<void> => set(SET_PLAN, [account, plan]),
    setRole: (account: number, role: Role): Promise<void> => set(SET_ROLE, [account, role]),
    addPeriod: (account: number, period: Period): Promise<boolean> =>
      transaction((session) => addPeriod(session, account, period)),
    removePeriod: (account: number, first: Day): Promise<boolean> =>
      transaction(async ({ run }) => (await run(REMOVE_PERIOD, [account, first])) === 1),
    setAddon: (account: number, addon: Addon, on: boolean): Promise<void> =>
      set(on ? ADD_ADDON : REMOVE_ADDON, [account, addon]),
    deleteAccount: (account: number): Promise<void> =>
      transaction(async ({ run }) => {
        for (const deletion of DELETIONS) await run(deletion, [account])
      }),
  }
}

function accountOf({ account }: Row): Account {
  return JSON.parse(account)
}

async function insertAccount(
  session: Session,
  { email, role, plan, periods, addons }: NewAccount,
  now: Instant,
  token: NewToken | undefined,
): Promise<Account | null> {
  const [made] = await session.rows<{ id: number }>(INSERT, [email, role, plan, now])
  if (made === undefined) return null
  const { id } = made
  for (const period of periods) {
    if (!(await addPeriod(session, id, period))) throw new Error('two periods of the new account overlap')
  }
  for (const addon of addons) await session.run(ADD_ADDON, [id, addon])
  if (token !== undefined) await insertToken(session, id, token, now)
  const [row] = await session.rows<Row>(BY_NUMBER, [id])
  return accountOf(row!)
}

async function addPeriod({ run }: Session, account: number, { plan, first, last }: Period): Promise<boolean> {
  await run(LOCK, [account])
  return (await run(ADD_PERIOD, [account, first, last, plan])) === 1
}
