/** Quota and usage on SQLite: spent units, leases of processes, live processes, paid files, and counted calls. */

import type { DatabaseSync } from 'node:sqlite'
import {
  type BudgetUnits,
  chargeFile,
  type FilePayment,
  grantUnits,
  type QuotaGrant,
  refundUnit,
  settleUnits,
} from '../../../accounts/budget-arithmetic.ts'
import { classifyHolders, firstRestorableDay, LEASE_TIMEOUT_SECONDS } from '../../../accounts/quota-lease-rules.ts'
import { addDays, type Day, type Instant } from '../../../values/time.ts'
import type { FilePurchase, QuotaRequest, Settlement, UsageNote } from '../../port/ledger.ts'

/** Records a heartbeat. Returns the number of live processes, including this one. */
type RecordHeartbeat = (now: Instant, holder: string) => number

/** Each call is written completely or not at all, so a unit and a payment are written together. */
export function sqliteBudgetWrites(database: DatabaseSync) {
  const recordHeartbeat = heartbeatRecorder(database)
  const budgetUnits = budgetUnitStatements(database)
  const readPaid = database.prepare('select 1 from paid_file where account = ? and day = ? and file = ?')
  const recordPayment = paymentRecorder(database)
  return {
    takeQuota(now: Instant, request: QuotaRequest): QuotaGrant {
      const live = recordHeartbeat(now, request.holder)
      return budgetUnits.update(request, request.holder, (units) => grantUnits(units, request, live)).grant
    },
    payForFile(now: Instant, { file, limit, holder, account, day }: FilePurchase): FilePayment {
      recordHeartbeat(now, holder)
      const pay = (units: BudgetUnits) => chargeFile(units, limit, readPaid.get(account, day, file) !== undefined)
      const { payment } = budgetUnits.update({ account, day }, holder, pay)
      if (payment.outcome === 'charged') recordPayment(account, day, file)
      return payment
    },
    settleQuota(now: Instant, settlements: readonly Settlement[]): void {
      for (const holder of new Set(settlements.map((settlement) => settlement.holder))) recordHeartbeat(now, holder)
      for (const settlement of settlements)
        budgetUnits.update(settlement, settlement.holder, (units) => ({ units: settleUnits(units, settlement) }))
    },
    refundUnit: (_now: Instant, account: number, day: Day): void =>
      void budgetUnits.update({ account, day }, null, (units) => ({ units: refundUnit(units) })),
    heartbeat: recordHeartbeat,
    recordUsage: usageRecorder(database),
  }
}

/** Reads the units of a budget, and writes those that a call changes. */
function budgetUnitStatements(database: DatabaseSync) {
  const read = database.prepare(
    `select coalesce((select used from budget where account = ?1 and day = ?2), 0) as used,
       coalesce(sum(units), 0) as leased, coalesce(sum(units) filter (where holder = ?3), 0) as ownLease
     from token_lease where account = ?1 and day = ?2`,
  )
  const setUsed = database.prepare(
    'insert into budget (account, day, used) values (?, ?, ?) on conflict do update set used = excluded.used',
  )
  const setLease = database.prepare(
    'insert into token_lease (account, day, holder, units) values (?, ?, ?, ?) on conflict do update set units = excluded.units',
  )
  const deleteLease = database.prepare('delete from token_lease where account = ? and day = ? and holder = ?')
  return {
    /** `holder`: whose lease is the own one; null for none. */
    update<Result extends { units: BudgetUnits }>(
      { account, day }: { account: number; day: Day },
      holder: string | null,
      change: (units: BudgetUnits) => Result,
    ): Result {
      const before = read.get(account, day, holder) as BudgetUnits
      const result = change(before)
      const { used, ownLease } = result.units
      if (used !== before.used) setUsed.run(account, day, used)
      if (ownLease !== before.ownLease) {
        if (ownLease > 0) setLease.run(account, day, holder, ownLease)
        else deleteLease.run(account, day, holder)
      }
      return result
    },
  }
}

/** Expires the leases of silent holders, and restores those of the holder that returns. */
function heartbeatRecorder(database: DatabaseSync): RecordHeartbeat {
  const read = database.prepare('select holder, heartbeat_at from lease_holder')
  const set = database.prepare(
    'insert into lease_holder (holder, heartbeat_at) values (?, ?) on conflict do update set heartbeat_at = excluded.heartbeat_at',
  )
  const expire = holderExpirer(database)
  const restore = leaseRestorer(database)
  return (now, holder) => {
    const rows = read.all() as { holder: string; heartbeat_at: Instant }[]
    const silences = rows.map((row) => ({ holder: row.holder, seconds: now - row.heartbeat_at }))
    const { liveCount, expired, renewed } = classifyHolders(silences, [holder])
    if (expired.length > 0) expire(expired, now)
    for (const name of renewed) set.run(name, now)
    for (const silence of silences) if (silence.seconds < -LEASE_TIMEOUT_SECONDS) set.run(silence.holder, now) // the clock was set back
    const own = silences.find((silence) => silence.holder === holder)
    if (own === undefined) restore(holder)
    if (own === undefined || own.seconds > 0) set.run(holder, now)
    return liveCount + 1
  }
}

/** Removes holders and spends the units of their leases. Drops expired leases of days that are over. */
function holderExpirer(database: DatabaseSync): (holders: readonly string[], now: Instant) => void {
  const statements = [
    `insert into budget (account, day, used) select account, day, units from token_lease where holder = ?
     on conflict do update set used = used + excluded.used`,
    `insert into expired_lease (holder, account, day, units)
     select holder, account, day, units from token_lease where holder = ?
     on conflict do update set units = units + excluded.units`,
    'delete from token_lease where holder = ?',
    'delete from lease_holder where holder = ?',
  ].map((sql) => database.prepare(sql))
  const dropOld = database.prepare('delete from expired_lease where day < ?')
  return (holders, now) => {
    for (const holder of holders) for (const statement of statements) statement.run(holder)
    dropOld.run(firstRestorableDay(now))
  }
}

/** Makes the expired leases of a holder leases again. */
function leaseRestorer(database: DatabaseSync): (holder: string) => void {
  const statements = [
    `insert into token_lease (account, day, holder, units)
     select account, day, holder, units from expired_lease where holder = ?
     on conflict do update set units = units + excluded.units`,
    `update budget set used = used - e.units from expired_lease e
     where e.holder = ? and e.account = budget.account and e.day = budget.day`,
    'delete from expired_lease where holder = ?',
  ].map((sql) => database.prepare(sql))
  return (holder) => {
    for (const statement of statements) statement.run(holder)
  }
}

/** Records that an account has paid for a file. Removes the payments of days that have ended everywhere. */
function paymentRecorder(database: DatabaseSync) {
  const insert = database.prepare('insert into paid_file (account, day, file) values (?, ?, ?)')
  const deleteOld = database.prepare('delete from paid_file where account = ? and day < ?')
  return (account: number, day: Day, file: string): void => {
    deleteOld.run(account, addDays(day, -1))
    insert.run(account, day, file)
  }
}

/** Records nothing for a deleted account. */
function usageRecorder(database: DatabaseSync) {
  const add = database.prepare(
    `insert into usage (account, day, endpoint, token, calls) select id, ?2, ?3, ?4, ?5 from account where id = ?1
     on conflict do update set calls = calls + excluded.calls`,
  )
  const setLastUsed = database.prepare(
    'update token set last_used = ?1 where id = ?2 and account = ?3 and (last_used is null or last_used < ?1)',
  )
  return (_now: Instant, notes: readonly UsageNote[]): void => {
    for (const { account, token, endpoint, day, calls, lastCall } of notes) {
      add.run(account, day, endpoint, token, calls)
      setLastUsed.run(lastCall, token, account)
    }
  }
}
