/** Accounts with their periods and add-ons. */

import type { Account, Addon, NewAccount, Plan, Role } from '../../accounts/account.ts'
import type { Actor } from '../../accounts/audit.ts'
import { formatPeriod, type Period } from '../../accounts/period.ts'
import type { NewToken, Token } from '../../accounts/token.ts'
import type { Day, Instant } from '../../values/time.ts'
import type { TokenStanding } from '../port/ledger.ts'
import { auditAccount, auditInstallation } from './audit.ts'
import { type LedgerRead, ledgerStatements, row, run, type Transaction } from './session.ts'
import { insertToken, TOKEN_COLUMNS } from './tokens.ts'
import { WATCH_REMOVALS } from './watches.ts'
import { WEBHOOK_REMOVALS } from './webhooks.ts'

/** A row with an account as JSON text. */
export type AccountRow = { account: string }

export const ACCOUNTS = ledgerStatements('account', {
  byId: ({ accountJson }) => `select ${accountJson} as account from account a where id = $1`,
  byEmail: ({ accountJson, emailKey, emailKeyOf }) =>
    `select ${accountJson} as account from account a where ${emailKey} = ${emailKeyOf('$1')}`,
  /** A token, its account, periods and add-ons in one statement. */
  ofToken: ({ accountJson }) =>
    `select ${TOKEN_COLUMNS.replaceAll(/\w+/g, 't.$&')}, ${accountJson} as account
     from token t join account a on a.id = t.account where t.hash = $1`,
  page: ({ accountJson, emailKey, emailKeyOf }) =>
    `select ${accountJson} as account from account a where ${emailKey} > ${emailKeyOf('$1')}
       and ${emailKey} >= ${emailKeyOf('$2')} and ${emailKey} < ${emailKeyOf('$3')} order by ${emailKey} limit $4`,
  insert:
    'insert into account (email, role, plan, created) values ($1, $2, $3, $4) on conflict do nothing returning id',
  /** Concurrent changes of what belongs to the account wait for each other. */
  lock: 'select id from account where id = $1 for update',
  lockPlan: 'select plan as former from account where id = $1 for update',
  lockRole: 'select role as former from account where id = $1 for update',
  setPlan: 'update account set plan = $2 where id = $1',
  setRole: 'update account set role = $2 where id = $1',
  suspend: 'update account set suspended = $2 where id = $1 and suspended is null',
  resume: 'update account set suspended = null where id = $1 and suspended is not null',
  addPeriod: `insert into period (account, first, last, plan)
    select a.id, $2, $3, $4 from account a where a.id = $1 and not exists (select 1 from period where account = a.id
      and first <= coalesce($3, '9999-12-31') and $2 <= coalesce(last, '9999-12-31'))`,
  removePeriod: 'delete from period where account = $1 and first = $2 returning plan, first, last',
  addAddon: 'insert into addon (account, addon) select id, $2 from account where id = $1 on conflict do nothing',
  removeAddon: 'delete from addon where account = $1 and addon = $2',
  exists: 'select id from account where id = $1',
  keepUsage: `insert into closed_usage (account, day, endpoint, token, calls)
    select account, day, endpoint, token, calls from usage where account = $1`,
  unnameActor: `update audit set actor = 'account ' || cast($1 as integer)
    where actor = (select email from account where id = $1)`,
  unnameAudit: ({ detailsWithoutName }) =>
    `update audit set email = null, details = ${detailsWithoutName} where account = $1`,
  removeAudit: 'delete from audit where account = $1',
  remove: 'delete from account where id = $1',
})

export const ACCOUNT_REMOVALS = ledgerStatements('account.remove', {
  budget: 'delete from budget where account = $1',
  token_lease: 'delete from token_lease where account = $1',
  expired_lease: 'delete from expired_lease where account = $1',
  paid_file: 'delete from paid_file where account = $1',
  usage: 'delete from usage where account = $1',
  period: 'delete from period where account = $1',
  addon: 'delete from addon where account = $1',
  token: 'delete from token where account = $1',
  account_password: 'delete from account_password where account = $1',
  digest: 'delete from digest where account = $1',
  feed: 'delete from feed where account = $1',
  session: 'delete from session where account = $1',
  one_time_link: 'delete from one_time_link where account = $1',
  lookup_request_count: 'delete from lookup_request_count where account = $1',
})

/** Removes the email address of an account from rows that its number does not find. */
export const EMAIL_REMOVALS = ledgerStatements('account.email', {
  links: 'delete from one_time_link where lower(email) = (select lower(a.email) from account a where a.id = $1)',
  /** The keys have the address between blanks (src/api/auth/attempt-limits.ts). */
  attempts: `delete from attempt where exists (select 1 from account a where a.id = $1
    and replace(' ' || lower(key) || ' ', ' ' || lower(a.email) || ' ', '') <> ' ' || lower(key) || ' ')`,
  /** A request that is repeated is then one whose outcome is unknown, so it does not create the account again. */
  answers: `update idempotent_answer set status = null, body = null where exists (select 1 from account a
    where a.id = $1 and replace(lower(body), '"' || lower(a.email) || '"', '') <> lower(body))`,
})

/** Sorts after every other character. */
const LAST_CHARACTER = '\u{10ffff}'

export function accountReads(read: LedgerRead) {
  const one = async (found: Promise<AccountRow[]>): Promise<Account | null> =>
    (await found).map(parseAccount)[0] ?? null
  return {
    account: (email: string) => one(read(ACCOUNTS.byEmail, [email])),
    accountById: (account: number) => one(read(ACCOUNTS.byId, [account])),
    async findToken(hash: Uint8Array): Promise<TokenStanding | null> {
      const [found] = await read<Token & AccountRow>(ACCOUNTS.ofToken, [hash])
      if (found === undefined) return null
      const { account, ...token } = found
      return { account: parseAccount({ account }), token }
    },
    accounts: async (after: string | null, limit: number, prefix = ''): Promise<Account[]> => {
      const values = [after ?? '', prefix, prefix + LAST_CHARACTER, limit]
      return (await read<AccountRow>(ACCOUNTS.page, values)).map(parseAccount)
    },
  }
}

export function parseAccount({ account }: AccountRow): Account {
  return JSON.parse(account)
}

export const accountTransactions = {
  *recordExport(now: Instant, actor: Actor, account: number): Transaction<void> {
    yield* auditAccount(now, actor, 'account.export', account, {})
  },

  *createAccount(now: Instant, actor: Actor, account: NewAccount, token: NewToken | null): Transaction<Account | null> {
    const { email, role, plan, periods, addons } = account
    const created = yield* row<{ id: number }>(ACCOUNTS.insert, [email, role, plan, now])
    if (created === undefined) return null
    const { id } = created
    for (const period of periods)
      if (!(yield* insertPeriod(id, period))) throw new Error('two periods of the new account overlap')
    for (const addon of addons) yield* run(ACCOUNTS.addAddon, [id, addon])
    yield* auditAccount(now, actor, 'account.create', id, { plan, role, periods: periods.map(formatPeriod), addons })
    if (token !== null) yield* insertToken(now, actor, id, token)
    return parseAccount((yield* row<AccountRow>(ACCOUNTS.byId, [id]))!)
  },

  *setPlan(now: Instant, actor: Actor, account: number, plan: Plan): Transaction<void> {
    const found = yield* row<{ former: Plan }>(ACCOUNTS.lockPlan, [account])
    if (found === undefined || found.former === plan) return
    yield* run(ACCOUNTS.setPlan, [account, plan])
    yield* auditAccount(now, actor, 'account.plan', account, { from: found.former, to: plan })
  },

  *setRole(now: Instant, actor: Actor, account: number, role: Role): Transaction<void> {
    const found = yield* row<{ former: Role }>(ACCOUNTS.lockRole, [account])
    if (found === undefined || found.former === role) return
    yield* run(ACCOUNTS.setRole, [account, role])
    yield* auditAccount(now, actor, 'account.role', account, { from: found.former, to: role })
  },

  *addPeriod(now: Instant, actor: Actor, account: number, period: Period): Transaction<boolean> {
    if (!(yield* insertPeriod(account, period))) return false
    yield* auditAccount(now, actor, 'period.add', account, { period: formatPeriod(period) })
    return true
  },

  *removePeriod(now: Instant, actor: Actor, account: number, first: Day): Transaction<boolean> {
    const removed = yield* row<Period>(ACCOUNTS.removePeriod, [account, first])
    if (removed === undefined) return false
    yield* auditAccount(now, actor, 'period.remove', account, { period: formatPeriod(removed) })
    return true
  },

  *setAddon(now: Instant, actor: Actor, account: number, addon: Addon, enabled: boolean): Transaction<void> {
    const changes = yield* run(enabled ? ACCOUNTS.addAddon : ACCOUNTS.removeAddon, [account, addon])
    if (changes === 1) yield* auditAccount(now, actor, enabled ? 'addon.add' : 'addon.remove', account, { addon })
  },

  *suspendAccount(now: Instant, actor: Actor, account: number): Transaction<boolean> {
    if ((yield* run(ACCOUNTS.suspend, [account, now])) === 0) return false
    yield* auditAccount(now, actor, 'account.suspend', account, {})
    return true
  },

  *resumeAccount(now: Instant, actor: Actor, account: number): Transaction<boolean> {
    if ((yield* run(ACCOUNTS.resume, [account])) === 0) return false
    yield* auditAccount(now, actor, 'account.resume', account, {})
    return true
  },

  /** Keeps the usage and the audit log without the account's name, or erases them. */
  *deleteAccount(now: Instant, actor: Actor, account: number, erase: boolean): Transaction<void> {
    if ((yield* row(ACCOUNTS.exists, [account])) === undefined) return
    if (erase) yield* auditInstallation(now, actor, 'account.delete', { erased: true })
    else yield* auditAccount(now, actor, 'account.delete', account, {})
    for (const step of [
      ACCOUNTS.unnameActor,
      ...Object.values(EMAIL_REMOVALS),
      erase ? ACCOUNTS.removeAudit : ACCOUNTS.unnameAudit,
      ...deletionSteps(erase),
    ])
      yield* run(step, [account])
  },
}

/**
 * Deletes budgets before token leases, and the account before its lookup requests, because every writer locks them in
 * this order. The account is locked before its usage is copied, so that no writer adds to it.
 */
function deletionSteps(erase: boolean) {
  const { budget, token_lease, expired_lease, paid_file, lookup_request_count, ...owned } = ACCOUNT_REMOVALS
  return [
    ...[budget, token_lease, expired_lease, paid_file, ACCOUNTS.lock],
    ...(erase ? [] : [ACCOUNTS.keepUsage]),
    ...Object.values(WATCH_REMOVALS),
    ...Object.values(WEBHOOK_REMOVALS),
    ...[...Object.values(owned), ACCOUNTS.remove, lookup_request_count],
  ]
}

function* insertPeriod(account: number, { plan, first, last }: Period): Transaction<boolean> {
  yield* run(ACCOUNTS.lock, [account])
  return (yield* run(ACCOUNTS.addPeriod, [account, first, last, plan])) === 1
}
