/** Accounts with their periods and add-ons, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { Account, Addon, NewAccount, Plan, Role } from '../../../accounts/account.ts'
import type { Period } from '../../../accounts/period.ts'
import type { Day, Instant } from '../../../words/time.ts'
import { type KeptToken, tokenInsert } from './tokens.ts'

/** The columns of an account `a`, its periods and add-ons as JSON. */
export const ACCOUNT_COLUMNS = `a.id, a.email, a.role, a.plan, a.created,
  (select json_group_array(json_object('plan', plan, 'first', first, 'last', last) order by first)
   from period where account = a.id) as periods,
  (select json_group_array(addon order by addon) from addon where account = a.id) as addons`

export type AccountRow = Omit<Account, 'periods' | 'addons'> & { periods: string; addons: string }

export function accountOf({ id, email, role, plan, periods, addons, created }: AccountRow): Account {
  return { id, email, role, plan, periods: JSON.parse(periods), addons: JSON.parse(addons), created }
}

export function accountReads(database: DatabaseSync) {
  const one = database.prepare(`select ${ACCOUNT_COLUMNS} from account a where email = ?`)
  const some = database.prepare(`select ${ACCOUNT_COLUMNS} from account a where email > ? order by email limit +?`)
  return {
    account(email: string): Account | null {
      const row = one.get(email) as AccountRow | undefined
      return row === undefined ? null : accountOf(row)
    },
    accounts: (after: string | null, limit: number): Account[] =>
      (some.all(after ?? '', limit) as AccountRow[]).map(accountOf),
  }
}

export function accountWrites(database: DatabaseSync) {
  const insert = database.prepare(
    'insert into account (email, role, plan, created) values (?, ?, ?, ?) on conflict do nothing',
  )
  const read = database.prepare(`select ${ACCOUNT_COLUMNS} from account a where id = ?`)
  const plan = database.prepare('update account set plan = ? where id = ?')
  const role = database.prepare('update account set role = ? where id = ?')
  const { addPeriod, removePeriod } = periodWrites(database)
  const setAddon = addonWrite(database)
  const addToken = tokenInsert(database)
  return {
    createAccount(now: Instant, account: NewAccount, token: KeptToken | null): Account | null {
      const { changes, lastInsertRowid } = insert.run(account.email, account.role, account.plan, now)
      if (changes === 0) return null
      const id = Number(lastInsertRowid)
      for (const period of account.periods) {
        if (!addPeriod(now, id, period)) throw new Error('two periods of the new account overlap')
      }
      for (const addon of account.addons) setAddon(now, id, addon, true)
      if (token !== null) addToken(now, id, token)
      return accountOf(read.get(id) as AccountRow)
    },
    setPlan: (_now: Instant, account: number, value: Plan): void => void plan.run(value, account),
    setRole: (_now: Instant, account: number, value: Role): void => void role.run(value, account),
    addPeriod,
    removePeriod,
    setAddon,
    deleteAccount: deletion(database),
  }
}

function periodWrites(database: DatabaseSync) {
  const add = database.prepare(
    `insert into period (account, first, last, plan) select a.id, ?2, ?3, ?4 from account a
     where a.id = ?1 and not exists (select 1 from period where account = a.id
       and first <= coalesce(?3, '9999-12-31') and ?2 <= coalesce(last, '9999-12-31'))`,
  )
  const remove = database.prepare('delete from period where account = ? and first = ?')
  return {
    addPeriod: (_now: Instant, account: number, { plan, first, last }: Period): boolean =>
      add.run(account, first, last, plan).changes === 1,
    removePeriod: (_now: Instant, account: number, first: Day): boolean => remove.run(account, first).changes === 1,
  }
}

function addonWrite(database: DatabaseSync) {
  const add = database.prepare(
    'insert into addon (account, addon) select id, ? from account where id = ? on conflict do nothing',
  )
  const remove = database.prepare('delete from addon where addon = ? and account = ?')
  return (_now: Instant, account: number, addon: Addon, on: boolean): void =>
    void (on ? add : remove).run(addon, account)
}

function deletion(database: DatabaseSync) {
  const deletions = ['period', 'addon', 'token', 'budget', 'hold', 'usage', 'asking', 'download'].map((table) =>
    database.prepare(`delete from ${table} where account = ?`),
  )
  const remove = database.prepare('delete from account where id = ?')
  return (_now: Instant, account: number): void => {
    for (const each of [...deletions, remove]) each.run(account)
  }
}
