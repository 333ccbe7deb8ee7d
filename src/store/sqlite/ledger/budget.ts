/** The daily budgets on SQLite: what is spent, what processes hold, and which processes live. */

import type { DatabaseSync } from 'node:sqlite'
import { classifyHolders, LEASE_TIMEOUT_SECONDS, leaseSize } from '../../../accounts/quota-lease-rules.ts'
import type { Day, Instant } from '../../../values/time.ts'
import type { QuotaGrant, QuotaRequest, Settlement } from '../../port/ledger.ts'
import { sqliteDownloadWrites } from './downloads.ts'

/** Marks a process as heard of; returns how many live, itself included. */
type RecordHeartbeat = (now: Instant, holder: string) => number

/** Adds to what is spent of a day's budget. */
type AddUsed = (account: number, day: Day, units: number) => void

export function sqliteBudgetReads(database: DatabaseSync) {
  const read = database.prepare('select used from budget where account = ? and day = ?')
  return {
    used: (account: number, day: Day): number => (read.get(account, day) as { used: number } | undefined)?.used ?? 0,
  }
}

export function sqliteBudgetWrites(database: DatabaseSync) {
  const hear = heartbeatRecorder(database)
  const spend = usedAdder(database)
  const refund = database.prepare('update budget set used = used - 1 where account = ? and day = ? and used > 0')
  const settle = leaseSettler(database, spend)
  const takeQuota = quotaGranter(database, hear, spend)
  return {
    takeQuota,
    ...sqliteDownloadWrites(database, takeQuota),
    settleQuota(now: Instant, settlements: readonly Settlement[]): void {
      for (const holder of new Set(settlements.map((settlement) => settlement.holder))) hear(now, holder)
      for (const settlement of settlements) settle(settlement)
    },
    refundUnit: (_now: Instant, account: number, day: Day): void => void refund.run(account, day),
    heartbeat: hear,
  }
}

function quotaGranter(database: DatabaseSync, recordHeartbeat: RecordHeartbeat, spend: AddUsed) {
  const read = database.prepare(
    `select coalesce((select used from budget where account = ?1 and day = ?2), 0) as used,
       coalesce((select sum(units) from token_lease where account = ?1 and day = ?2), 0) as held`,
  )
  const hold = database.prepare(
    'insert into token_lease (account, day, holder, units) values (?, ?, ?, ?) on conflict do update set units = units + excluded.units',
  )
  return (now: Instant, { account, day, limit, requested: want, holder }: QuotaRequest): QuotaGrant => {
    const live = recordHeartbeat(now, holder)
    const { used, held } = read.get(account, day) as { used: number; held: number }
    const free = limit - used - held
    if (free <= 0) return { granted: 0, used, leased: held, retryLater: held > 0 }
    const granted = leaseSize(free, want, live)
    if (granted > 1) {
      hold.run(account, day, holder, granted)
      return { granted, used, leased: held + granted, retryLater: false }
    }
    spend(account, day, 1)
    return { granted, used: used + 1, leased: held, retryLater: false }
  }
}

/** A holder that was silent too long has no hold any more: what it held is spent already, and settling it changes nothing. */
function leaseSettler(database: DatabaseSync, spend: AddUsed) {
  const read = database.prepare('select units from token_lease where account = ? and day = ? and holder = ?')
  const lower = database.prepare(
    'update token_lease set units = units - ? where account = ? and day = ? and holder = ?',
  )
  const end = database.prepare('delete from token_lease where account = ? and day = ? and holder = ?')
  return ({ account, day, holder, spent, returned }: Settlement): void => {
    const row = read.get(account, day, holder) as { units: number } | undefined
    if (row === undefined) return
    const settled = Math.min(spent + returned, row.units)
    if (settled < row.units) lower.run(settled, account, day, holder)
    else end.run(account, day, holder)
    if (spent > 0) spend(account, day, Math.min(spent, settled))
  }
}

function usedAdder(database: DatabaseSync): AddUsed {
  const add = database.prepare(
    'insert into budget (account, day, used) values (?, ?, ?) on conflict do update set used = used + excluded.used',
  )
  return (account, day, units) => void add.run(account, day, units)
}

/** Who is gone is struck off the roll, and what it held is spent. */
function heartbeatRecorder(database: DatabaseSync): RecordHeartbeat {
  const read = database.prepare('select holder, heartbeat_at from lease_holder')
  const set = database.prepare(
    'insert into lease_holder (holder, heartbeat_at) values (?, ?) on conflict do update set heartbeat_at = excluded.heartbeat_at',
  )
  const strike = holderExpirer(database)
  return (now, holder) => {
    const rows = read.all() as { holder: string; heartbeat_at: Instant }[]
    const silences = rows.map((row) => ({ holder: row.holder, seconds: now - row.heartbeat_at }))
    const { liveCount: live, expired, renewed: spared } = classifyHolders(silences, [holder])
    for (const each of expired) strike(each)
    for (const each of spared) set.run(each, now)
    for (const each of silences) if (each.seconds < -LEASE_TIMEOUT_SECONDS) set.run(each.holder, now) // the clock was set back
    const own = silences.find((each) => each.holder === holder)
    if (own === undefined || own.seconds > 0) set.run(holder, now)
    return live + 1
  }
}

function holderExpirer(database: DatabaseSync): (holder: string) => void {
  const spend = database.prepare(
    `insert into budget (account, day, used) select account, day, units from token_lease where holder = ?
     on conflict do update set used = used + excluded.used`,
  )
  const end = database.prepare('delete from token_lease where holder = ?')
  const remove = database.prepare('delete from lease_holder where holder = ?')
  return (holder) => {
    for (const statement of [spend, end, remove]) statement.run(holder)
  }
}
