/**
 * The daily budgets on PostgreSQL: calls of one process are written together, and are exact because each budget's row
 * is locked first. Records the heartbeats of the processes, and expires the leases of silent ones.
 */

import {
  classifyHolders,
  type HolderSilence,
  type HolderStatus,
  LEASE_TIMEOUT_SECONDS,
} from '../../../accounts/quota-lease-rules.ts'
import { addDays, type Instant } from '../../../values/time.ts'
import { UncertainWriteFault } from '../../port/fault.ts'
import type { FilePurchase, QuotaRequest, Settlement } from '../../port/ledger.ts'
import { clockTableSql } from '../database/clock.ts'
import type { Database } from '../database/database.ts'
import type { Session } from '../database/transaction.ts'
import {
  type Budget,
  type BudgetChanges,
  type BudgetKey,
  BudgetSet,
  budgetName,
  type LeaseRow,
  type PaidFile,
  type ReadLease,
} from './budget-set.ts'

/** `$1` holders, `$2` the time, null for the server's, `$3` LEASE_TIMEOUT_SECONDS. */
const HOLDER_CLOCK = clockTableSql('$2')

/** A heartbeat in the future was recorded before the clock was set back: its silence is counted from now on. */
const HEARTBEAT_HOLDERS = {
  name: 'holder.heartbeat',
  text: `with ${HOLDER_CLOCK},
    own as (
      insert into lease_holder (holder, heartbeat_at) select name, now from unnest($1::text[]) as name, clock order by 1
      on conflict (holder) do update set heartbeat_at = excluded.heartbeat_at
      where lease_holder.heartbeat_at < excluded.heartbeat_at
        or lease_holder.heartbeat_at > excluded.heartbeat_at + $3::bigint),
    ahead as (
      select holder from lease_holder, clock where heartbeat_at > now + $3::bigint and holder <> all($1::text[])
      order by 1 for update of lease_holder skip locked),
    reset as (update lease_holder set heartbeat_at = now from clock, ahead where lease_holder.holder = ahead.holder)
    select holder, now - heartbeat_at as seconds from lease_holder, clock`,
}

/**
 * Skips locked rows: their holders are sending a heartbeat. Waiting for them while own rows are locked could cause a
 * deadlock.
 */
const RENEW_HOLDERS = {
  name: 'holder.renew',
  text: `with ${HOLDER_CLOCK},
    silent as (
      select holder from lease_holder, clock where holder = any($1::text[]) and now - heartbeat_at > $3::bigint
      order by 1 for update of lease_holder skip locked)
    update lease_holder set heartbeat_at = now from clock, silent where lease_holder.holder = silent.holder`,
}
const LOCK_BUDGETS_OF_HOLDERS = {
  name: 'lease.budgets',
  text: `select b.account from (select distinct account, day from token_lease where holder = any($1::text[])) k
    join budget b on b.account = k.account and b.day = k.day order by b.account, b.day for update of b`,
}

/** Skips holders that have sent a heartbeat meanwhile. */
const EXPIRE_LEASES = {
  name: 'lease.expire',
  text: `with ${HOLDER_CLOCK},
    expired as (
      delete from token_lease using clock where holder = any($1::text[])
        and not exists (select 1 from lease_holder h
          where h.holder = token_lease.holder and now - h.heartbeat_at <= $3::bigint)
      returning account, day, holder, units),
    kept as (
      insert into expired_lease (holder, account, day, units) select holder, account, day, units from expired
      on conflict (holder, account, day) do update set units = expired_lease.units + excluded.units),
    spent as (select account, day, sum(units)::integer as units from expired group by 1, 2)
    update budget b set used = b.used + spent.units from spent where b.account = spent.account and b.day = spent.day`,
}
const DELETE_EXPIRED_HOLDERS = {
  name: 'holder.expire',
  text: `with ${HOLDER_CLOCK},
    expired as (
      select holder from lease_holder, clock where holder = any($1::text[]) and now - heartbeat_at > $3::bigint
      order by 1 for update of lease_holder skip locked)
    delete from lease_holder using expired where lease_holder.holder = expired.holder`,
}
const DROP_OLD_LEASES = {
  name: 'lease.drop',
  text: `with ${clockTableSql('$1')}
    delete from expired_lease using clock
    where day < to_char(to_timestamp(now) at time zone 'UTC' - interval '1 day', 'YYYY-MM-DD')`,
}
const FORFEIT_LEASES = { name: 'lease.forfeit', text: 'delete from expired_lease where holder = any($1::text[])' }
const DELETE_HOLDERS = { name: 'holder.delete', text: 'delete from lease_holder where holder = any($1::text[])' }

/** A write to budgets that is grouped with others. */
export type QuotaCall =
  | { kind: 'take'; request: QuotaRequest }
  | { kind: 'pay'; purchase: FilePurchase }
  | { kind: 'settle'; settlements: readonly Settlement[] }
  | ({ kind: 'refund' } & BudgetKey)
  | { kind: 'heartbeat'; holder: string }

const BUDGET_KEYS = 'unnest($1::integer[], $2::text[]) as k (account, day)'
/** Locks in one order, so that processes never wait for each other in a cycle. */
const LOCK_BUDGETS = {
  name: 'budget.lock',
  text: `select b.account, b.day, b.used from ${BUDGET_KEYS} join budget b on b.account = k.account and b.day = k.day
    order by b.account, b.day for update of b`,
}
const INSERT_BUDGETS = {
  name: 'budget.open',
  text: `insert into budget (account, day, used) select account, day, 0 from ${BUDGET_KEYS} order by 1, 2 on conflict do nothing`,
}
/** All leases of budgets, and the expired ones of the holders `$3`. */
const READ_LEASES = {
  name: 'lease.read',
  text: `select l.account, l.day, l.holder, l.units, false as "isExpired"
    from ${BUDGET_KEYS} join token_lease l on l.account = k.account and l.day = k.day
    union all select e.account, e.day, e.holder, e.units, true
    from ${BUDGET_KEYS} join expired_lease e on e.holder = any($3::text[]) and e.account = k.account and e.day = k.day`,
}
const WRITE_BUDGETS = {
  name: 'budget.write',
  text: `with spent as (
      update budget b set used = n.used from unnest($1::integer[], $2::text[], $3::integer[]) as n (account, day, used)
      where b.account = n.account and b.day = n.day),
    held as materialized (
      select * from unnest($4::integer[], $5::text[], $6::text[], $7::integer[]) as n (account, day, holder, units)),
    ended as (
      delete from token_lease l using held n
      where n.units = 0 and l.account = n.account and l.day = n.day and l.holder = n.holder),
    restored as (
      delete from expired_lease e using unnest($8::integer[], $9::text[], $10::text[]) as n (account, day, holder)
      where e.holder = n.holder and e.account = n.account and e.day = n.day)
    insert into token_lease (account, day, holder, units) select account, day, holder, units from held where units > 0
    on conflict (account, day, holder) do update set units = excluded.units`,
}

const PAID_FILE_KEYS = 'unnest($1::integer[], $2::text[], $3::text[]) as k (account, day, file)'
const READ_PAID_FILES = {
  name: 'paid-file.read',
  text: `select p.account, p.day, p.file from ${PAID_FILE_KEYS} join paid_file p using (account, day, file)`,
}
const INSERT_PAID_FILES = {
  name: 'paid-file.insert',
  text: `insert into paid_file (account, day, file) select account, day, file from ${PAID_FILE_KEYS} on conflict do nothing`,
}
const DELETE_OLD_PAID_FILES = {
  name: 'paid-file.delete-old',
  text: 'delete from paid_file p using unnest($1::integer[], $2::text[]) as k (account, day) where p.account = k.account and p.day < k.day',
}

/**
 * Writes calls like `writeQuotaCalls`. If the outcome of a write is unknown, the next write forfeits the leases of its
 * holders: that may cost units, but never grants extra ones.
 */
export function forfeitingWriter(database: Pick<Database, 'transaction'>) {
  const uncertainHolders = new Set<string>()
  return async (calls: readonly QuotaCall[], now: Instant | null): Promise<unknown[]> => {
    if (uncertainHolders.size > 0) {
      await database.transaction((session) => forfeitLeases(session, [...uncertainHolders]))
      uncertainHolders.clear()
    }
    try {
      return await writeQuotaCalls(database, calls, now)
    } catch (error) {
      if (error instanceof UncertainWriteFault)
        for (const holder of calls.flatMap(holdersOfCall)) uncertainHolders.add(holder)
      throw error
    }
  }
}

/**
 * Writes calls in one transaction, at the time `now` (null: the server's). Returns the result of each, in their order.
 */
async function writeQuotaCalls(
  { transaction }: Pick<Database, 'transaction'>,
  calls: readonly QuotaCall[],
  now: Instant | null,
): Promise<unknown[]> {
  const first = await transaction((session) => tryQuotaCalls(session, calls, now, true))
  if (first.replies !== null) return first.replies
  await transaction((session) => expireHolders(session, first.expired, now))
  return (await transaction((session) => tryQuotaCalls(session, calls, now, false))).replies!
}

type QuotaAttempt = { replies: unknown[] | null; expired: readonly string[] }

/** With `stopIfExpired`, if holders have expired, writes nothing but the heartbeats of this process. */
async function tryQuotaCalls(
  session: Session,
  calls: readonly QuotaCall[],
  now: Instant | null,
  stopIfExpired: boolean,
): Promise<QuotaAttempt> {
  const holders = [...new Set(calls.flatMap(holdersOfCall))]
  const keys = [...new Map(calls.flatMap(budgetKeysOfCall).map((key) => [budgetName(key), key])).values()]
  const files = calls.flatMap((call) => (call.kind === 'pay' ? [call.purchase] : []))
  const [status, budgetSet] = await Promise.all([
    heartbeatHolders(session, holders, now),
    openBudgets(session, keys, holders, files),
  ])
  if (stopIfExpired && status.expired.length > 0) return { replies: null, expired: status.expired }
  const live = status.liveCount + holders.length
  const replies = calls.map((call) => applyQuotaCall(budgetSet, call, live))
  const { newlyPaid, ...changes } = budgetSet.changes()
  await writeChanges(session, changes)
  await insertPaidFiles(session, newlyPaid)
  return { replies, expired: [] }
}

function applyQuotaCall(budgetSet: BudgetSet, call: QuotaCall, live: number): unknown {
  if (call.kind === 'take') return budgetSet.grant(call.request, live)
  if (call.kind === 'pay') return budgetSet.pay(call.purchase)
  if (call.kind === 'refund') return budgetSet.refund(call)
  if (call.kind === 'heartbeat') return live
  for (const settlement of call.settlements) budgetSet.settle(settlement)
}

async function writeChanges(
  { run }: Session,
  { budgets, leases, restored }: Pick<BudgetChanges, 'budgets' | 'leases' | 'restored'>,
): Promise<void> {
  if (budgets.length + leases.length + restored.length === 0) return
  const restoredKeys = leaseRowColumns(restored).slice(0, 3)
  await run(WRITE_BUDGETS, [...budgetColumns(budgets), ...leaseRowColumns(leases), ...restoredKeys])
}

/**
 * Locks the budgets of `keys` and creates missing ones. The statements are sent together; each sees the effects of
 * earlier ones.
 */
async function openBudgets(
  session: Session,
  keys: readonly BudgetKey[],
  holders: readonly string[],
  files: readonly PaidFile[],
): Promise<BudgetSet> {
  const { rows, run } = session
  if (keys.length === 0) return new BudgetSet([], [], [])
  const values = budgetKeyColumns(keys)
  const load = () =>
    Promise.all([
      rows<Budget>(LOCK_BUDGETS, values),
      rows<ReadLease>(READ_LEASES, [...values, holders]),
      readPaidFiles(session, files),
    ])
  const loaded = await load()
  if (loaded[0].length === keys.length) return new BudgetSet(...loaded)
  const [, reloaded] = await Promise.all([run(INSERT_BUDGETS, values), load()])
  return new BudgetSet(...reloaded)
}

function holdersOfCall(call: QuotaCall): string[] {
  if (call.kind === 'take') return [call.request.holder]
  if (call.kind === 'pay') return [call.purchase.holder]
  if (call.kind === 'settle') return call.settlements.map(({ holder }) => holder)
  return call.kind === 'heartbeat' ? [call.holder] : []
}

function budgetKeysOfCall(call: QuotaCall): readonly BudgetKey[] {
  if (call.kind === 'take') return [call.request]
  if (call.kind === 'pay') return [call.purchase]
  if (call.kind === 'settle') return call.settlements
  return call.kind === 'refund' ? [call] : []
}

function budgetKeyColumns(keys: readonly BudgetKey[]): unknown[][] {
  return [keys.map(({ account }) => account), keys.map(({ day }) => day)]
}

function budgetColumns(budgets: readonly Budget[]): unknown[][] {
  return [...budgetKeyColumns(budgets), budgets.map(({ used }) => used)]
}

function leaseRowColumns(leases: readonly LeaseRow[]): unknown[][] {
  return [...budgetKeyColumns(leases), leases.map(({ holder }) => holder), leases.map(({ units }) => units)]
}

/** The files among `files` that are paid for. */
async function readPaidFiles({ rows }: Session, files: readonly PaidFile[]): Promise<PaidFile[]> {
  return files.length === 0 ? [] : rows<PaidFile>(READ_PAID_FILES, paidFileColumns(files))
}

/** Records files as paid, and deletes those of days that have ended everywhere. */
async function insertPaidFiles({ run }: Session, paidFiles: readonly PaidFile[]): Promise<void> {
  if (paidFiles.length === 0) return
  const [accounts, days] = [paidFiles.map(({ account }) => account), paidFiles.map(({ day }) => addDays(day, -1))]
  await Promise.all([run(DELETE_OLD_PAID_FILES, [accounts, days]), run(INSERT_PAID_FILES, paidFileColumns(paidFiles))])
}

function paidFileColumns(files: readonly PaidFile[]): unknown[][] {
  return (['account', 'day', 'file'] as const).map((key) => files.map((paid) => paid[key]))
}

/** Records heartbeats, and renews other holders in the same transaction, so that no process sees only one of both. */
async function heartbeatHolders(
  { rows, run }: Session,
  holders: readonly string[],
  now: Instant | null,
): Promise<HolderStatus> {
  if (holders.length === 0) return { liveCount: 0, expired: [], renewed: [] }
  const silences = await rows<HolderSilence>(HEARTBEAT_HOLDERS, [holders, now, LEASE_TIMEOUT_SECONDS])
  const status = classifyHolders(silences, holders)
  if (status.renewed.length > 0) await run(RENEW_HOLDERS, [status.renewed, now, LEASE_TIMEOUT_SECONDS])
  return status
}

/** Spends the leases of holders that are still silent, and deletes these holders. A returning holder restores them. */
async function expireHolders({ rows, run }: Session, holders: readonly string[], now: Instant | null): Promise<void> {
  const values = [holders, now, LEASE_TIMEOUT_SECONDS]
  await Promise.all([
    rows(LOCK_BUDGETS_OF_HOLDERS, [holders]),
    run(EXPIRE_LEASES, values),
    run(DELETE_EXPIRED_HOLDERS, values),
    run(DROP_OLD_LEASES, [now]),
  ])
}

/** Spends the leases of holders of this process for good, because the ledger's state is unknown. */
async function forfeitLeases(session: Session, holders: readonly string[]): Promise<void> {
  await Promise.all([
    session.run(DELETE_HOLDERS, [holders]),
    expireHolders(session, holders, null),
    session.run(FORFEIT_LEASES, [holders]),
  ])
}
