/** The schedule on SQLite: leases of slot ranges, due names, and live crawlers. */

import type { DatabaseSync } from 'node:sqlite'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { packAddress } from '../../../values/ip-address.ts'
import type { Instant } from '../../../values/time.ts'
import {
  type CrawlerHeartbeat,
  LEASE_SECONDS,
  type Lease,
  OUTCOME_SECONDS,
  type OutcomeCount,
  type RangeState,
  type RangeSweep,
  type Schedule,
} from '../../port/schedule.ts'
import { CRAWL_STATE_COLUMNS, type CrawlStateRow, TOMBSTONE_ID, unpackCrawlState } from '../../shared/columns.ts'
import { slotCountColumns, unpackSlotCount } from '../../shared/slot-count.ts'
import { readTransaction, writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'

/**
 * The range is free or its lease has expired. An expiry beyond the longest possible one was written before the clock
 * was set back.
 */
const RANGE_FREE_CONDITION = '(holder is null or expires_at <= ?1 or expires_at > ?1 + ?2)'
const LEASE_VALID_CONDITION = 'slot_range = ? and fence = ? and holder is not null'

type LeaseStateRow = Omit<RangeState, 'count'> & { count: string | null }

export function sqliteSchedule(database: DatabaseSync, log: WriteAheadLog, now: () => Instant): Schedule {
  const { lease, renew, release } = leaseWrites(database)
  const { due, names, nameCounts } = nameReads(database)
  const { ranges } = rangeReads(database)
  const { heartbeat, crawlers } = crawlerStatements(database)
  const { add, outcomes } = outcomeStatements(database)
  const write = <Result>(work: (now: Instant) => Result): Promise<Result> =>
    log.whenBounded(() => writeTransaction(database, () => work(now())))
  return {
    lease: (holder, max, ranges) => write((now) => lease(now, holder, max, ranges)),
    renew: (leases) => write((now) => renew(now, leases)),
    release: (leases) => write((now) => release(now, leases)),
    due: async (from, to, at) => readTransaction(database, () => due(from, to, at)),
    names: async (after, limit) => names(after, limit),
    nameCounts: async (addresses) => readTransaction(database, () => nameCounts(addresses)),
    ranges: async () => ranges(now()),
    heartbeat: (holder, report) => write((now) => heartbeat(now, holder, report)),
    crawlers: async () => crawlers(now()),
    addOutcomes: (outcomes) => write((now) => add(now, outcomes)),
    outcomes: async (since) => outcomes(since),
  }
}

function nameReads(database: DatabaseSync) {
  const condition = `from crawl_state where slot between ?1 and ?2 and id is not ${TOMBSTONE_ID}`
  const due = database.prepare(`select name, ${CRAWL_STATE_COLUMNS} ${condition} and due <= ?3 order by slot, name`)
  const count = database.prepare(`select ${slotCountColumns('?3')} ${condition}`)
  count.setReturnArrays(true)
  const names = database.prepare(
    `select name from crawl_state where (slot, name) > (?, ?) and id is not ${TOMBSTONE_ID} order by slot, name limit +?`,
  )
  const readCount = database.prepare('select names from address_count where address = ?')
  return {
    due: (from: number, to: number, at: Instant) => ({
      states: (due.all(from, to, at) as (CrawlStateRow & { name: DomainName })[]).map((row) =>
        unpackCrawlState(row.name, row),
      ),
      count: unpackSlotCount(count.get(from, to, at) as unknown as number[]),
    }),
    names: (after: DomainName | null, limit: number): DomainName[] =>
      (names.all(after === null ? -1 : slotOf(after), after ?? '', limit) as { name: DomainName }[]).map(
        ({ name }) => name,
      ),
    nameCounts: (addresses: Parameters<Schedule['nameCounts']>[0]): number[] =>
      addresses.map((address) => (readCount.get(packAddress(address)) as { names: number } | undefined)?.names ?? 0),
  }
}

function crawlerStatements(database: DatabaseSync) {
  const upsert = database.prepare(
    `insert into crawler (holder, heartbeat_at, report) values (?, ?, ?)
     on conflict do update set heartbeat_at = excluded.heartbeat_at, report = excluded.report`,
  )
  const end = database.prepare('delete from crawler where holder = ?')
  // a later heartbeat was recorded before the clock was set back
  const alive = 'heartbeat_at > ?1 - ?2 and heartbeat_at <= ?1 + ?2'
  const deleteExpired = database.prepare(`delete from crawler where not (${alive})`)
  const count = database.prepare('select count(*) as live from crawler')
  const readAlive = database.prepare(
    `select holder, heartbeat_at as heartbeatAt, report from crawler where ${alive} order by holder`,
  )
  return {
    heartbeat(now: Instant, holder: string, report: string | null): number {
      if (report === null) end.run(holder)
      else upsert.run(holder, now, report)
      deleteExpired.run(now, LEASE_SECONDS)
      return (count.get() as { live: number }).live
    },
    crawlers: (now: Instant): CrawlerHeartbeat[] =>
      (readAlive.all(now, LEASE_SECONDS) as CrawlerHeartbeat[]).map((row) => ({ ...row })),
  }
}

function outcomeStatements(database: DatabaseSync) {
  const add = database.prepare(
    `insert into probe_outcome (hour, kind, probes, servfail, nxdomain, no_website) values (?, ?, ?, ?, ?, ?)
     on conflict do update set probes = probes + excluded.probes, servfail = servfail + excluded.servfail,
       nxdomain = nxdomain + excluded.nxdomain, no_website = no_website + excluded.no_website`,
  )
  const deleteExpired = database.prepare('delete from probe_outcome where hour < ?')
  const since = database.prepare(
    'select hour, kind, probes, servfail, nxdomain, no_website as noWebsite from probe_outcome where hour >= ? order by hour, kind',
  )
  return {
    add(now: Instant, outcomes: readonly OutcomeCount[]): void {
      for (const { hour, kind, probes, servfail, nxdomain, noWebsite } of outcomes)
        add.run(hour, kind, probes, servfail, nxdomain, noWebsite)
      deleteExpired.run(now - OUTCOME_SECONDS)
    },
    outcomes: (hour: Instant): OutcomeCount[] => (since.all(hour) as OutcomeCount[]).map((row) => ({ ...row })),
  }
}

/** Leases of slot ranges on SQLite. One write transaction at a time, so that no range has two holders. */
function leaseWrites(database: DatabaseSync) {
  const readDue = database.prepare(
    `select slot_range from slot_lease where ${RANGE_FREE_CONDITION} and next_sweep <= ?1 order by next_sweep, slot_range limit +?3`,
  )
  const readAmong = database.prepare(
    `select slot_range from slot_lease where ${RANGE_FREE_CONDITION} and slot_range in (select value from json_each(?4)) order by next_sweep, slot_range limit +?3`,
  )
  const acquire = database.prepare(
    'update slot_lease set holder = ?, fence = fence + 1, expires_at = ? where slot_range = ? returning slot_range as range, fence',
  )
  const extend = database.prepare(`update slot_lease set expires_at = ? where ${LEASE_VALID_CONDITION}`)
  const release = database.prepare(
    `update slot_lease set holder = null, expires_at = null where ${LEASE_VALID_CONDITION}`,
  )
  const releaseSwept = database.prepare(
    `update slot_lease set holder = null, expires_at = null, next_sweep = ?, last_sweep = ?, counts = ? where ${LEASE_VALID_CONDITION}`,
  )
  return {
    lease(now: Instant, holder: string, max: number, ranges?: readonly number[]): Lease[] {
      const key = [now, LEASE_SECONDS, max] as const
      const free = ranges ? readAmong.all(...key, JSON.stringify(ranges)) : readDue.all(...key)
      return (free as { slot_range: number }[]).map(({ slot_range }) => ({
        ...(acquire.get(holder, now + LEASE_SECONDS, slot_range) as Lease),
      }))
    },
    renew: (now: Instant, leases: readonly Lease[]): Lease[] =>
      leases.filter(({ range, fence }) => extend.run(now + LEASE_SECONDS, range, fence).changes === 1),
    release(now: Instant, leases: readonly { lease: Lease; sweep: RangeSweep | null }[]): void {
      for (const { lease, sweep } of leases) {
        const { range, fence } = lease
        if (sweep === null) release.run(range, fence)
        else releaseSwept.run(sweep.nextSweep, now, JSON.stringify(sweep.count), range, fence)
      }
    },
  }
}

function rangeReads(database: DatabaseSync) {
  const readAll = database.prepare(
    `select slot_range as range, iif(${RANGE_FREE_CONDITION}, null, holder) as holder,
       iif(${RANGE_FREE_CONDITION}, null, expires_at) as expiresAt, next_sweep as nextSweep, last_sweep as lastSweep, counts as count
     from slot_lease order by slot_range`,
  )
  return {
    ranges: (now: Instant): RangeState[] =>
      (readAll.all(now, LEASE_SECONDS) as LeaseStateRow[]).map((row) => ({
        ...row,
        count: row.count && JSON.parse(row.count),
      })),
  }
}
