/** The processes that take units: records their heartbeats, and expires the leases of silent ones. */

import {
  classifyHolders,
  type HolderSilence,
  type HolderStatus,
  LEASE_TIMEOUT_SECONDS,
} from '../../../accounts/quota-lease-rules.ts'
import type { Instant } from '../../../values/time.ts'
import { clockTableSql } from '../database/clock.ts'
import type { Session } from '../database/transaction.ts'

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

/** Records heartbeats, and renews other holders in the same transaction, so that no process sees only one of both. */
export async function heartbeatHolders(
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
export async function expireHolders(
  { rows, run }: Session,
  holders: readonly string[],
  now: Instant | null,
): Promise<void> {
  const values = [holders, now, LEASE_TIMEOUT_SECONDS]
  await Promise.all([
    rows(LOCK_BUDGETS_OF_HOLDERS, [holders]),
    run(EXPIRE_LEASES, values),
    run(DELETE_EXPIRED_HOLDERS, values),
    run(DROP_OLD_LEASES, [now]),
  ])
}

/** Spends the leases of holders of this process for good, because the ledger's state is unknown. */
export async function forfeitLeases(session: Session, holders: readonly string[]): Promise<void> {
  await Promise.all([
    session.run(DELETE_HOLDERS, [holders]),
    expireHolders(session, holders, null),
    session.run(FORFEIT_LEASES, [holders]),
  ])
}
