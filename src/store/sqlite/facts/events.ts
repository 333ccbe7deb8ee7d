/** Events on SQLite: written by the transaction that writes what they are about, and read by the API. */

import type { DatabaseSync } from 'node:sqlite'
import type { Change } from '../../../apply/change.ts'
import { type Instant, SECONDS_PER_DAY } from '../../../values/time.ts'
import { type NewEvent, withinDailyLimit } from '../../../watch/daily-limit.ts'
import { needsFormerText, type WatchEvent, watchEventsOf, watchEventsOfLogged } from '../../../watch/watch-event.ts'
import type { WatchIndex } from '../../../watch/watch-index.ts'
import {
  EVENT_SECONDS,
  type EventReader,
  type EventRemover,
  MAX_DELETED_EVENTS,
  type StoredEvent,
} from '../../port/watch/events.ts'
import type { WrittenCertificate } from '../../shared/certificates.ts'
import { wordsOfPage } from '../../shared/columns.ts'
import { writeTransaction } from '../database/connection.ts'
import type { WriteAheadLog } from '../database/write-ahead-log.ts'
import { pageReader } from '../similar/similar.ts'

/** What events are made from. `readWatches`: the watches of this moment. */
export type EventSources = { readWatches: () => WatchIndex; now: () => Instant }

/** The events of one transaction. */
type TransactionEvents = {
  /** For each change that passed the version check, before its facts are written. */
  addChange(change: Change): void
  addLogged(certificates: readonly WrittenCertificate[]): void
  finish(): void
}

/** Prepares the statements once. Each call of the returned function begins the events of one transaction. */
export function eventWriter(database: DatabaseSync, { readWatches, now }: EventSources): () => TransactionEvents {
  const readStartPage = pageReader(database)
  const store = eventInserter(database)
  return () => {
    const index = readWatches()
    const events: WatchEvent[] = []
    return {
      addChange(change) {
        if (index.size === 0) return
        const words = needsFormerText(index, change) ? wordsOfPage(readStartPage(change.state.name)) : null
        for (const event of watchEventsOf(index, change, words)) events.push(event)
      },
      addLogged(certificates) {
        for (const { certificate, logged_at } of certificates)
          events.push(...watchEventsOfLogged(index, certificate, logged_at!))
      },
      finish() {
        if (events.length > 0) store(events, now())
      },
    }
  }
}

/** Inserts events up to the daily limit of each account, and deletes some of the old ones. */
function eventInserter(database: DatabaseSync): (events: readonly WatchEvent[], now: Instant) => void {
  const count = database.prepare('select events from event_count where account = ? and day = ?')
  const saveCount = database.prepare(
    `insert into event_count (account, day, events) values (?, ?, ?)
     on conflict do update set day = excluded.day, events = excluded.events`,
  )
  const insert = database.prepare(
    'insert into event (account, watch, name, time, observed_at, differences) values (?, ?, ?, ?, ?, ?)',
  )
  const deleteOld = database.prepare(
    `delete from event where number in (select number from (select number, time from event order by number limit ?)
     where time <= ?)`,
  )
  const insertAt = (time: Instant, { account, watch, name, observed_at, differences }: NewEvent): void =>
    void insert.run(account, watch, name, time, observed_at, differences)
  return (events, now) => {
    const day = Math.floor(now / SECONDS_PER_DAY)
    const counts = new Map<number, number>()
    for (const { account } of events)
      if (!counts.has(account)) counts.set(account, (count.get(account, day)?.events ?? 0) as number)
    const limited = withinDailyLimit(events, counts)
    for (const event of limited.stored) insertAt(now, event)
    for (const [account, total] of limited.counts) saveCount.run(account, day, total)
    deleteOld.run(limited.stored.length + MAX_DELETED_EVENTS, now - EVENT_SECONDS)
  }
}

export function sqliteEventRemover(database: DatabaseSync, log: WriteAheadLog): EventRemover {
  const ofCertificates = database.prepare(
    'select number, differences from event where name is null and watch is not null and number > ? order by number limit ?',
  )
  const remove = database.prepare('delete from event where number = ?')
  const removeOfAccount = database.prepare(
    'delete from event where number in (select number from event where account = ? order by number limit ?)',
  )
  const removeCount = database.prepare('delete from event_count where account = ?')
  const write = <Result>(work: () => Result): Promise<Result> => log.whenBounded(() => writeTransaction(database, work))
  return {
    certificateEvents: async (after, limit) =>
      ofCertificates.all(after, limit).map((row) => ({ ...row }) as Pick<StoredEvent, 'number' | 'differences'>),
    removeEvents: (numbers) =>
      write(() => {
        for (const number of numbers) remove.run(number)
      }),
    removeEventsOfAccount: (account, limit) =>
      write(() => {
        const removed = Number(removeOfAccount.run(account, limit).changes)
        if (removed < limit) removeCount.run(account)
        return removed
      }),
  }
}

/** `beginRead`: begins a read of one snapshot. */
export function sqliteEvents(database: DatabaseSync, beginRead: () => void, now: () => Instant): EventReader {
  const page = database.prepare(
    `select number, watch, name, time, observed_at, differences from event
     where account = ? and number > ? and time > ? order by number limit ?`,
  )
  const pageBefore = database.prepare(
    `select number, watch, name, time, observed_at, differences from event
     where account = ? and number < ? and time > ? order by number desc limit ?`,
  )
  const accounts = database.prepare('select distinct account from event where number > ? and number <= ?')
  const last = database.prepare('select max(number) as number from event')
  const highest = database.prepare("select seq as number from sqlite_sequence where name = 'event'")
  return {
    async events(account, after, limit) {
      beginRead()
      return page.all(account, after, now() - EVENT_SECONDS, limit).map((row) => ({ ...row }) as StoredEvent)
    },
    async eventsBefore(account, before, limit) {
      beginRead()
      const start = before ?? Number.MAX_SAFE_INTEGER
      return pageBefore.all(account, start, now() - EVENT_SECONDS, limit).map((row) => ({ ...row }) as StoredEvent)
    },
    async accountsWithEvents(after, until) {
      beginRead()
      return accounts.all(after, until).map(({ account }) => account as number)
    },
    async lastEvent() {
      beginRead()
      return (last.get()?.number ?? 0) as number
    },
    async highestNumber() {
      beginRead()
      return (highest.get()?.number ?? 0) as number
    },
  }
}
