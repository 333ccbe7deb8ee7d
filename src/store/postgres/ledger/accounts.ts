/** Accounts with their periods and add-ons, on PostgreSQL. */

import type { Account, NewAccount } from '../../../accounts/account.ts'
import type { Actor } from '../../../accounts/audit.ts'
import { formatPeriod, type Period } from '../../../accounts/period.ts'
import type { NewToken } from '../../../accounts/token.ts'
import type { Instant } from '../../../values/time.ts'
import type { LedgerChanges } from '../../port/ledger.ts'
import type { OperatorTokenChanges, ReleaseChanges } from '../../port/operator.ts'
import type { Statement } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import type { Session } from '../database/transaction.ts'
import { auditWriterOf, type WriteAuditEntry, writeInstallationAudit } from './audit.ts'
import { insertToken } from './tokens.ts'

/** An account `a` as JSON, with its periods and add-ons. */
export const ACCOUNT_AS_JSON = `json_build_object('id', a.id, 'email', a.email, 'role', a.role, 'plan', a.plan, 'created', a.created,
  'suspended', a.suspended,
  'periods', coalesce((select json_agg(json_build_object('plan', plan, 'first', first, 'last', last) order by first)
    from period where account = a.id), '[]'),
  'addons', coalesce((select json_agg(addon order by addon) from addon where account = a.id), '[]'))::text`

type AccountJsonRow = { account: string }

const READ_ACCOUNT_BY_EMAIL = {
  name: 'account.by_email',
  text: `select ${ACCOUNT_AS_JSON} as account from account a where lower(email) = lower($1 collate "C")`,
}
const READ_ACCOUNT_BY_ID = {
  name: 'account.by_number',
  text: `select ${ACCOUNT_AS_JSON} as account from account a where id = $1`,
}
const READ_ACCOUNT_PAGE = {
  name: 'account.page',
  text: `select ${ACCOUNT_AS_JSON} as account from account a where lower(email) > lower($1 collate "C")
    and lower(email) >= lower($2 collate "C") and lower(email) < $3 collate "C"
    order by lower(email) limit $4`,
}
const INSERT_ACCOUNT = {
  name: 'account.insert',
  text: 'insert into account (email, role, plan, created) values ($1, $2, $3, $4) on conflict do nothing returning id',
}
/** Returns the former value; no row if it is the same. */
const SET_ACCOUNT_COLUMN = {
  plan: { name: 'account.plan', text: setColumnText('plan') },
  role: { name: 'account.role', text: setColumnText('role') },
}
const SUSPEND_ACCOUNT = {
  name: 'account.suspend',
  text: 'update account set suspended = $2 where id = $1 and suspended is null',
}
const RESUME_ACCOUNT = {
  name: 'account.resume',
  text: 'update account set suspended = null where id = $1 and suspended is not null',
}
/** Locks the account before periods are compared and before usage is kept: concurrent writes are seen or wait. */
const LOCK_ACCOUNT = { name: 'account.lock', text: 'select id from account where id = $1 for update' }
const ADD_PERIOD = {
  name: 'period.insert',
  text: `insert into period (account, first, last, plan) select a.id, $2, $3, $4 from account a
    where a.id = $1 and not exists (select 1 from period where account = a.id
      and first <= coalesce($3, '9999-12-31') and $2 <= coalesce(last, '9999-12-31'))`,
}
const REMOVE_PERIOD = {
  name: 'period.delete',
  text: 'delete from period where account = $1 and first = $2 returning plan, first, last',
}
const ADD_ADDON = {
  name: 'addon.insert',
  text: 'insert into addon (account, addon) select id, $2 from account where id = $1 on conflict do nothing',
}
const REMOVE_ADDON = { name: 'addon.delete', text: 'delete from addon where account = $1 and addon = $2' }
/**
 * Deletes budgets before token leases, and the account before its lookup requests, because every writer locks them in
 * this order. Periods, add-ons, tokens and usage are deleted with their account.
 */
const deletionOf = (what: string): Statement => ({
  name: `account.delete_${what.split(' ')[0]}`,
  text: `delete from ${what} = $1`,
})
const DELETE_UNITS = ['budget', 'token_lease', 'expired_lease', 'paid_file'].map((table) =>
  deletionOf(`${table} where account`),
)
const DELETE_ACCOUNT = ['account where id', 'lookup_request_count where account'].map(deletionOf)

const CHECK_ACCOUNT: Statement = { name: 'account.check', text: 'select id from account where id = $1' }
const KEEP_USAGE = {
  name: 'account.keep-usage',
  text: `insert into closed_usage (account, day, endpoint, token, calls)
    select account, day, endpoint, token, calls from usage where account = $1`,
}
const UNNAME_ACTOR = {
  name: 'account.unname-actor',
  text: `update audit set actor = 'account ' || $1::integer where actor = (select email from account where id = $1)`,
}
const UNNAME_AUDIT = {
  name: 'account.unname-audit',
  text: `update audit set email = null, details = (details::jsonb - 'name')::text where account = $1`,
}
const REMOVE_AUDIT = { name: 'account.remove-audit', text: 'delete from audit where account = $1' }

function setColumnText(column: 'plan' | 'role'): string {
  return `with former as (select id, ${column} as former from account where id = $1 for update)
    update account a set ${column} = $2 from former where a.id = former.id and former.former <> $2 returning former.former`
}

/** Sorts after every other character. */
const LAST_CHARACTER = '\u{10ffff}'

export function postgresAccountReads({ read }: Pick<Database, 'read'>) {
  return {
    async account(email: string): Promise<Account | null> {
      const [row] = await read<AccountJsonRow>(READ_ACCOUNT_BY_EMAIL, [email])
      return row === undefined ? null : parseAccountRow(row)
    },
    accounts: async (after: string | null, limit: number, prefix = ''): Promise<Account[]> =>
      (await read<AccountJsonRow>(READ_ACCOUNT_PAGE, [after ?? '', prefix, prefix + LAST_CHARACTER, limit])).map(
        parseAccountRow,
      ),
  }
}

/** The changes that this file makes. */
type AccountChanges = Omit<
  LedgerChanges,
  | 'createToken'
  | 'createTokenWithin'
  | 'rotateToken'
  | 'revokeToken'
  | 'rotateSecret'
  | 'setPassword'
  | keyof OperatorTokenChanges
  | keyof ReleaseChanges
>

/** The account changes of an actor. `now`: the time of changes without one, null for the server's. */
export function postgresAccountWrites(
  { transaction }: Pick<Database, 'transaction'>,
  actor: Actor,
  now: () => Instant | null,
): AccountChanges {
  return {
    createAccount: (account, at, token) =>
      transaction((session) => insertAccount(session, account, at, token, auditWriterOf(actor, at))),
    setPlan: (account, plan) =>
      transaction((session) => setColumn(session, 'plan', account, plan, auditWriterOf(actor, now()))),
    setRole: (account, role) =>
      transaction((session) => setColumn(session, 'role', account, role, auditWriterOf(actor, now()))),
    addPeriod: (account, period) =>
      transaction(async (session) => {
        const isAdded = await addPeriod(session, account, period)
        if (isAdded) await auditWriterOf(actor, now())(session, 'period.add', account, { period: formatPeriod(period) })
        return isAdded
      }),
    removePeriod: (account, first) =>
      transaction(async (session) => {
        const [removed] = await session.rows<Period>(REMOVE_PERIOD, [account, first])
        if (removed === undefined) return false
        await auditWriterOf(actor, now())(session, 'period.remove', account, { period: formatPeriod(removed) })
        return true
      }),
    setAddon: (account, addon, enabled) =>
      transaction(async (session) => {
        if ((await session.run(enabled ? ADD_ADDON : REMOVE_ADDON, [account, addon])) === 0) return
        await auditWriterOf(actor, now())(session, enabled ? 'addon.add' : 'addon.remove', account, { addon })
      }),
    ...postgresSuspensionWrites(transaction, actor, now),
    deleteAccount: (account, erase = false) =>
      transaction((session) => deleteAccountRows(session, actor, now(), account, erase)),
  }
}

/** Deletes an account; keeps its usage and audit log without its name, or erases them. */
async function deleteAccountRows(
  session: Session,
  actor: Actor,
  now: Instant | null,
  account: number,
  erase: boolean,
): Promise<void> {
  if ((await session.rows(CHECK_ACCOUNT, [account])).length === 0) return
  if (erase) await writeInstallationAudit(session, actor, now, 'account.delete', { erased: true })
  else await auditWriterOf(actor, now)(session, 'account.delete', account, {})
  const auditSteps = [UNNAME_ACTOR, erase ? REMOVE_AUDIT : UNNAME_AUDIT]
  const keepUsage = erase ? [] : [LOCK_ACCOUNT, KEEP_USAGE]
  for (const step of [...auditSteps, ...DELETE_UNITS, ...keepUsage, ...DELETE_ACCOUNT])
    await session.run(step, [account])
}

function postgresSuspensionWrites(
  transaction: Database['transaction'],
  actor: Actor,
  now: () => Instant | null,
): Pick<LedgerChanges, 'suspendAccount' | 'resumeAccount'> {
  return {
    suspendAccount: (account, at) =>
      transaction(async (session) => {
        const isChanged = (await session.run(SUSPEND_ACCOUNT, [account, at])) === 1
        if (isChanged) await auditWriterOf(actor, at)(session, 'account.suspend', account, {})
        return isChanged
      }),
    resumeAccount: (account) =>
      transaction(async (session) => {
        const isChanged = (await session.run(RESUME_ACCOUNT, [account])) === 1
        if (isChanged) await auditWriterOf(actor, now())(session, 'account.resume', account, {})
        return isChanged
      }),
  }
}

function parseAccountRow({ account }: AccountJsonRow): Account {
  return JSON.parse(account)
}

async function setColumn(
  session: Session,
  column: 'plan' | 'role',
  account: number,
  to: string,
  log: WriteAuditEntry,
): Promise<void> {
  const [changed] = await session.rows<{ former: string }>(SET_ACCOUNT_COLUMN[column], [account, to])
  if (changed !== undefined) await log(session, `account.${column}`, account, { from: changed.former, to })
}

async function insertAccount(
  session: Session,
  { email, role, plan, periods, addons }: NewAccount,
  now: Instant,
  token: NewToken | undefined,
  log: WriteAuditEntry,
): Promise<Account | null> {
  const [created] = await session.rows<{ id: number }>(INSERT_ACCOUNT, [email, role, plan, now])
  if (created === undefined) return null
  const { id } = created
  for (const period of periods) {
    if (!(await addPeriod(session, id, period))) throw new Error('two periods of the new account overlap')
  }
  for (const addon of addons) await session.run(ADD_ADDON, [id, addon])
  await log(session, 'account.create', id, { plan, role, periods: periods.map(formatPeriod), addons })
  if (token !== undefined) await insertToken(session, id, token, now, log)
  const [row] = await session.rows<AccountJsonRow>(READ_ACCOUNT_BY_ID, [id])
  return parseAccountRow(row!)
}

async function addPeriod({ run }: Session, account: number, { plan, first, last }: Period): Promise<boolean> {
  await run(LOCK_ACCOUNT, [account])
  return (await run(ADD_PERIOD, [account, first, last, plan])) === 1
}
