/** Accounts with their periods and add-ons, on SQLite. */

import type { DatabaseSync } from 'node:sqlite'
import type { Account, Addon, NewAccount, Plan, Role } from '../../../accounts/account.ts'
import type { Actor } from '../../../accounts/audit.ts'
import { formatPeriod, type Period } from '../../../accounts/period.ts'
import type { Day, Instant } from '../../../values/time.ts'
import { auditWrites } from './audit.ts'
import { type StoredNewToken, tokenInserter } from './tokens.ts'

/** The columns of an account `a`, its periods and add-ons as JSON. */
export const ACCOUNT_COLUMNS = `a.id, a.email, a.role, a.plan, a.created, a.suspended,
  (select json_group_array(json_object('plan', plan, 'first', first, 'last', last) order by first)
   from period where account = a.id) as periods,
  (select json_group_array(addon order by addon) from addon where account = a.id) as addons`

export type AccountRow = Omit<Account, 'periods' | 'addons'> & { periods: string; addons: string }

export function accountOfRow({ id, email, role, plan, periods, addons, created, suspended }: AccountRow): Account {
  return { id, email, role, plan, periods: JSON.parse(periods), addons: JSON.parse(addons), created, suspended }
}

/** Sorts after every other character. */
const LAST_CHARACTER = '\u{10ffff}'

export function sqliteAccountReads(database: DatabaseSync) {
  const readOne = database.prepare(`select ${ACCOUNT_COLUMNS} from account a where email = ?`)
  const readPage = database.prepare(
    `select ${ACCOUNT_COLUMNS} from account a where email > ?1 and email >= ?2 and email < ?3 order by email limit +?4`,
  )
  return {
    account(email: string): Account | null {
      const row = readOne.get(email) as AccountRow | undefined
      return row === undefined ? null : accountOfRow(row)
    },
    accounts: (after: string | null, limit: number, prefix = ''): Account[] =>
      (readPage.all(after ?? '', prefix, prefix + LAST_CHARACTER, limit) as AccountRow[]).map(accountOfRow),
  }
}

export function sqliteAccountWrites(database: DatabaseSync) {
  const insert = database.prepare(
    'insert into account (email, role, plan, created) values (?, ?, ?, ?) on conflict do nothing',
  )
  const read = database.prepare(`select ${ACCOUNT_COLUMNS} from account a where id = ?`)
  const periods = periodWrites(database)
  const addons = addonWrites(database)
  const addToken = tokenInserter(database)
  const { ofAccount } = auditWrites(database)
  return {
    createAccount(now: Instant, actor: Actor, account: NewAccount, token: StoredNewToken | null): Account | null {
      const { email, role, plan } = account
      const { changes, lastInsertRowid } = insert.run(email, role, plan, now)
      if (changes === 0) return null
      const id = Number(lastInsertRowid)
      for (const period of account.periods) {
        if (!periods.add(id, period)) throw new Error('two periods of the new account overlap')
      }
      for (const addon of account.addons) addons.set(id, addon, true)
      const details = { plan, role, periods: account.periods.map(formatPeriod), addons: account.addons }
      ofAccount(now, actor, 'account.create', id, details)
      if (token !== null) addToken(now, actor, id, token)
      return accountOfRow(read.get(id) as AccountRow)
    },
    ...columnWrites(database),
    ...suspensionWrites(database),
    ...periodAndAddonWrites(database),
    deleteAccount: accountDeletion(database),
  }
}

/** Writes of periods and add-ons. */
function periodAndAddonWrites(database: DatabaseSync) {
  const periods = periodWrites(database)
  const addons = addonWrites(database)
  const { ofAccount } = auditWrites(database)
  return {
    addPeriod(now: Instant, actor: Actor, account: number, period: Period): boolean {
      if (!periods.add(account, period)) return false
      ofAccount(now, actor, 'period.add', account, { period: formatPeriod(period) })
      return true
    },
    removePeriod(now: Instant, actor: Actor, account: number, first: Day): boolean {
      const removed = periods.remove(account, first)
      if (removed !== null) ofAccount(now, actor, 'period.remove', account, { period: formatPeriod(removed) })
      return removed !== null
    },
    setAddon(now: Instant, actor: Actor, account: number, addon: Addon, enabled: boolean): void {
      if (addons.set(account, addon, enabled))
        ofAccount(now, actor, enabled ? 'addon.add' : 'addon.remove', account, { addon })
    },
  }
}

/** Writes of plan and role. */
function columnWrites(database: DatabaseSync) {
  const { ofAccount } = auditWrites(database)
  const setter = (column: 'plan' | 'role') => {
    const read = database.prepare(`select ${column} as former from account where id = ?`)
    const write = database.prepare(`update account set ${column} = ? where id = ?`)
    return (now: Instant, actor: Actor, account: number, to: string): void => {
      const from = read.get(account)?.former
      if (from === undefined || from === to) return
      write.run(to, account)
      ofAccount(now, actor, `account.${column}`, account, { from, to })
    }
  }
  return {
    setPlan: setter('plan') as (now: Instant, actor: Actor, account: number, plan: Plan) => void,
    setRole: setter('role') as (now: Instant, actor: Actor, account: number, role: Role) => void,
  }
}

function suspensionWrites(database: DatabaseSync) {
  const { ofAccount } = auditWrites(database)
  const suspend = database.prepare('update account set suspended = ? where id = ? and suspended is null')
  const resume = database.prepare('update account set suspended = null where id = ? and suspended is not null')
  return {
    suspendAccount(now: Instant, actor: Actor, account: number): boolean {
      if (suspend.run(now, account).changes === 0) return false
      ofAccount(now, actor, 'account.suspend', account, {})
      return true
    },
    resumeAccount(now: Instant, actor: Actor, account: number): boolean {
      if (resume.run(account).changes === 0) return false
      ofAccount(now, actor, 'account.resume', account, {})
      return true
    },
  }
}

function periodWrites(database: DatabaseSync) {
  const add = database.prepare(
    `insert into period (account, first, last, plan) select a.id, ?2, ?3, ?4 from account a
     where a.id = ?1 and not exists (select 1 from period where account = a.id
       and first <= coalesce(?3, '9999-12-31') and ?2 <= coalesce(last, '9999-12-31'))`,
  )
  const remove = database.prepare('delete from period where account = ? and first = ? returning plan, first, last')
  return {
    add: (account: number, { plan, first, last }: Period): boolean => add.run(account, first, last, plan).changes === 1,
    remove: (account: number, first: Day): Period | null => (remove.get(account, first) as Period | undefined) ?? null,
  }
}

function addonWrites(database: DatabaseSync) {
  const add = database.prepare(
    'insert into addon (account, addon) select id, ? from account where id = ? on conflict do nothing',
  )
  const remove = database.prepare('delete from addon where addon = ? and account = ?')
  return {
    /** Returns false if nothing changed. */
    set: (account: number, addon: Addon, enabled: boolean): boolean =>
      (enabled ? add : remove).run(addon, account).changes === 1,
  }
}

function accountDeletion(database: DatabaseSync) {
  const deletions = [
    'period',
    'addon',
    'token',
    'budget',
    'token_lease',
    'expired_lease',
    'usage',
    'lookup_request_count',
    'paid_file',
    'account_password',
    'session',
    'one_time_link',
  ].map((table) => database.prepare(`delete from ${table} where account = ?`))
  const remove = database.prepare('delete from account where id = ?')
  const keepUsage = database.prepare(
    `insert into closed_usage (account, day, endpoint, token, calls)
     select account, day, endpoint, token, calls from usage where account = ?`,
  )
  const unnameActor = database.prepare(
    `update audit set actor = 'account ' || cast(?1 as integer) where actor = (select email from account where id = ?1)`,
  )
  const unnameEntries = database.prepare(
    `update audit set email = null, details = json_remove(details, '$.name') where account = ?`,
  )
  const removeEntries = database.prepare('delete from audit where account = ?')
  const exists = database.prepare('select 1 from account where id = ?')
  const { ofAccount, ofInstallation } = auditWrites(database)
  return (now: Instant, actor: Actor, account: number, erase: boolean): void => {
    if (exists.get(account) === undefined) return
    if (erase) ofInstallation(now, actor, 'account.delete', { erased: true })
    else ofAccount(now, actor, 'account.delete', account, {})
    for (const step of [unnameActor, ...(erase ? [removeEntries] : [keepUsage, unnameEntries])]) step.run(account)
    for (const deletion of [...deletions, remove]) deletion.run(account)
  }
}
