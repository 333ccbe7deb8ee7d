/** The daily budgets on SQLite: spent units, leases of processes, and live processes. */

import type { DatabaseSync } from 'node:sqlite'
import { classifyHolders, LEASE_TIMEOUT_SECONDS, leaseSize } from '../../../accounts/quota-lease-rules.ts'
import type { Day, Instant } from '../../../values/time.ts'
import type { QuotaGrant, QuotaRequest, Settlement } from '../../port/ledger.ts'
import { sqliteDownloadWrites } from './downloads.ts'

/** Records a heartbeat. Returns the number of live processes, including this one. */
type RecordHeartbeat = (now: Instant, holder: string) => number

/** Adds to the spent units of a day's budget. */
type AddUsed = (account: number, day: Day, units: number) => void

export function sqliteBudgetReads(database: DatabaseSync) {
  const read = database.prepare('select used from budget where account = ? and day = ?')
  return {
    used: (account: number, day: Day): number => (read.get(account, day) as { used: number } | undefined)?.used ?? 0,
  }
}

export function sqliteBudgetWrites(database: DatabaseSync) {
  const recordHeartbeat = heartbeatRecorder(database)
  const spend = usedAdder(database)
  const refund = database.prepare('update budget set used = used - 1 where account = ? and day = ? and used > 0')
  const settle = leaseSettler(database, spend)
  const takeQuota = quotaGranter(database, recordHeartbeat, spend)
  return {
    takeQuota,
    ...sqliteDownloadWrites(database, takeQuota),
    settleQuota(now: Instant, settlements: readonly Settlement[]): void {
      for (const holder of new Set(settlements.map((settlement) => settlement.holder))) recordHeartbeat(now, holder)
      for (const settlement of settlements) settle(settlement)
    },
    refundUnit: (_now: Instant, account: number, day: Day): void => void refund.run(account, day),
    heartbeat: recordHeartbeat,
  }
}

function quotaGranter(database: DatabaseSync, recordHeartbeat: RecordHeartbeat, spend: AddUsed) {
  const read = database.prepare(
    `select coalesce((select used from budget where account = ?1 and day = ?2), 0) as used,
       coalesce((select sum(units) from token_lease where account = ?1 and day = ?2), 0) as held`,
  )
  const addLease = database.prepare(
    'insert into token_lease (account, day, holder, units) values (?, ?, ?, ?) on conflict do update set units = units + excluded.units',
  )
  return (now: Instant, { account, day, limit, requested, holder }: QuotaRequest): QuotaGrant => {
    const live = recordHeartbeat(now, holder)
    const { used, held } = read.get(account, day) as { used: number; held: number }
    const available = limit - used - held
    if (available <= 0) return { granted: 0, used, leased: held, retryLater: held > 0 }
    const granted = leaseSize(available, requested, live)
    if (granted > 1) {
      addLease.run(account, day, holder, granted)
      return { granted, used, leased: held + granted, retryLater: false }
    }
    spend(account, day, 1)
    return { granted, used: used + 1, leased: held, retryLater: false }
  }
}

/** A holder that was silent for too long has no lease: its units are spent already, and settling changes nothing. */
function leaseSettler(database: DatabaseSync, spend: AddUsed) {
  const read = database.prepare('select units from token_lease where account = ? and day = ? and holder = ?')
  const reduceLease = database.prepare(
    'update token_lease set units = units - ? where account = ? and day = ? and holder = ?',
  )
  const deleteLease = database.prepare('delete from token_lease where account = ? and day = ? and holder = ?')
  return ({ account, day, holder, spent, returned }: Settlement): void => {
    const row = read.get(account, day, holder) as { units: number } | undefined
    if (row === undefined) return
    const settled = Math.min(spent + returned, row.units)
    if (settled < row.units) reduceLease.run(settled, account, day, holder)
    else deleteLease.run(account, day, holder)
    if (spent > 0) spend(account, day, Math.min(spent, settled))
  }
}

function usedAdder(database: DatabaseSync): AddUsed {
  const add = database.prepare(
    'insert into budget (account, day, used) values (?, ?, ?) on conflict do update set used = used + excluded.used',
  )
  return (account, day, units) => void add.run(account, day, units)
}

/** Removes holders that have ended; the units of their leases count as spent. */
function heartbeatRecorder(database: DatabaseSync): RecordHeartbeat {
  const read = database.prepare('select holder, heartbeat_at from lease_holder')
  const set = database.prepare(
    'insert into lease_holder (holder, heartbeat_at) values (?, ?) on conflict do update set heartbeat_at = excluded.heartbeat_at',
  )
  const expire = holderExpirer(database)
  return (now, holder) => {
    const rows = read.all() as { holder: string; heartbeat_at: Instant }[]
    const silences = rows.map((row) => ({ holder: row.holder, seconds: now - row.heartbeat_at }))
    const { liveCount, expired, renewed } = classifyHolders(silences, [holder])
    for (const name of expired) expire(name)
    for (const name of renewed) set.run(name, now)
    for (const silence of silences) if (silence.seconds < -LEASE_TIMEOUT_SECONDS) set.run(silence.holder, now) // the clock was set back
    const own = silences.find((silence) => silence.holder === holder)
    if (own === undefined || own.seconds > 0) set.run(holder, now)
    return liveCount + 1
  }
}

function holderExpirer(database: DatabaseSync): (holder: string) => void {
  const spend = database.prepare(
    `insert into budget (account, day, used) select account, day, units from token_lease where holder = ?
     on conflict do update set used = used + excluded.used`,
  )
  const deleteLease = database.prepare('delete from token_lease where holder = ?')
  const remove = database.prepare('delete from lease_holder where holder = ?')
  return (holder) => {
    for (const statement of [spend, deleteLease, remove]) statement.run(holder)
  }
}
