/** Events on PostgreSQL: written by the transaction that writes what they are about, and read by the API. */

import type { Change } from '../../../apply/change.ts'
import type { DomainName } from '../../../values/domain-name.ts'
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
import { plainArray, textArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import type { Session } from '../database/transaction.ts'
import { readStartPage } from '../similar/similar.ts'

/** Transactions with events wait for each other here, so that events become visible in the order of their numbers. */
const LOCK_ORDER = {
  name: 'event.order',
  text: `select coalesce($1::bigint, floor(extract(epoch from clock_timestamp()))::bigint) as now
    from metadata where name = 'event_order' for update`,
}
const READ_COUNTS = {
  name: 'event.counts',
  text: 'select account, events from event_count where account = any($1::integer[]) and day = $2',
}
const SAVE_COUNTS = {
  name: 'event.save-counts',
  text: `insert into event_count (account, day, events)
    select k.account, $1, k.events from unnest($2::integer[], $3::bigint[]) k(account, events)
    on conflict (account) do update set day = excluded.day, events = excluded.events`,
}
const INSERT = {
  name: 'event.insert',
  text: `insert into event (account, watch, name, time, observed_at, differences)
    select k.account, k.watch, k.name, $1, k.observed_at, k.differences
    from unnest($2::integer[], $3::integer[], $4::text[], $5::bigint[], $6::text[]) with ordinality
      k(account, watch, name, observed_at, differences, position)
    order by k.position`,
}
const DELETE_OLD = {
  name: 'event.delete-old',
  text: `delete from event where number in
    (select number from (select number, time from event order by number limit $1) oldest where time <= $2)`,
}
const DELETE_OF_NAME = { name: 'event.delete-of-name', text: 'delete from event where name = $1' }
const READ = {
  name: 'event.read',
  text: `select number, watch, name, time, observed_at, differences from event
    where account = $1 and number > $2 and time > $3 order by number limit $4`,
}
const READ_BEFORE = {
  name: 'event.read-before',
  text: `select number, watch, name, time, observed_at, differences from event
    where account = $1 and number < $2 and time > $3 order by number desc limit $4`,
}
/** The number that the sequence gave last; null before the first one. */
const READ_HIGHEST = {
  name: 'event.highest',
  text: "select pg_sequence_last_value(pg_get_serial_sequence('event', 'number')::regclass) as number",
}
const READ_ACCOUNTS = {
  name: 'event.accounts',
  text: 'select distinct account from event where number > $1 and number <= $2',
}
const READ_OF_CERTIFICATES = {
  name: 'event.of-certificates',
  text: `select number, differences from event where name is null and watch is not null and number > $1
    order by number limit $2`,
}
const DELETE_NUMBERS = { name: 'event.delete-numbers', text: 'delete from event where number = any($1::bigint[])' }
const DELETE_OF_ACCOUNT = {
  name: 'event.delete-of-account',
  text: 'delete from event where number in (select number from event where account = $1 order by number limit $2)',
}
const DELETE_COUNT = { name: 'event.delete-count', text: 'delete from event_count where account = $1' }
const READ_LAST = { name: 'event.last', text: 'select max(number) as number from event' }

/** The events of changes that passed the version check. To be called before their facts are written. */
export async function eventsOfChanges(
  { rows }: Session,
  index: WatchIndex,
  changes: readonly Change[],
): Promise<WatchEvent[]> {
  if (index.size === 0) return []
  const events: WatchEvent[] = []
  for (const change of changes) {
    const words = needsFormerText(index, change) ? wordsOfPage(await readStartPage(rows, change.state.name)) : null
    for (const event of watchEventsOf(index, change, words)) events.push(event)
  }
  return events
}

/** The events of certificates that logs published, each once. */
export function eventsOfCertificates(index: WatchIndex, logged: readonly WrittenCertificate[]): WatchEvent[] {
  return logged.flatMap(({ certificate, logged_at }) => watchEventsOfLogged(index, certificate, logged_at!))
}

/**
 * Inserts events up to the daily limit of each account, and deletes some of the old ones. Last in a transaction, because
 * others with events wait for its end. `now`: null for the server's time.
 */
export async function insertEvents(
  { rows, run }: Session,
  events: readonly WatchEvent[],
  now: Instant | null,
): Promise<void> {
  if (events.length === 0) return
  const [locked] = await rows<{ now: Instant }>(LOCK_ORDER, [now])
  const time = locked!.now
  const day = Math.floor(time / SECONDS_PER_DAY)
  const accounts = [...new Set(events.map(({ account }) => account))]
  const counted = await rows<{ account: number; events: number }>(READ_COUNTS, [accounts, day])
  const { stored, counts } = withinDailyLimit(events, new Map(counted.map((row) => [row.account, row.events])))
  await Promise.all([
    run(INSERT, [time, ...eventColumns(stored)]),
    run(SAVE_COUNTS, [day, plainArray([...counts.keys()]), plainArray([...counts.values()])]),
    run(DELETE_OLD, [stored.length + MAX_DELETED_EVENTS, time - EVENT_SECONDS]),
  ])
}

function eventColumns(events: readonly NewEvent[]): string[] {
  return [
    plainArray(events.map(({ account }) => account)),
    plainArray(events.map(({ watch }) => watch)),
    plainArray(events.map(({ name }) => name)),
    plainArray(events.map(({ observed_at }) => observed_at)),
    textArray(events.map(({ differences }) => differences)),
  ]
}

/** Removes the events of a forgotten name. */
export async function removeEventsOf({ run }: Session, name: DomainName): Promise<void> {
  await run(DELETE_OF_NAME, [name])
}

export function postgresEventRemover({ read, transaction }: Pick<Database, 'read' | 'transaction'>): EventRemover {
  return {
    certificateEvents: (after, limit) => read(READ_OF_CERTIFICATES, [after, limit]),
    removeEvents: (numbers) =>
      transaction(async ({ run }) => {
        await run(DELETE_NUMBERS, [plainArray(numbers)])
      }),
    removeEventsOfAccount: (account, limit) =>
      transaction(async ({ run }) => {
        const removed = await run(DELETE_OF_ACCOUNT, [account, limit])
        if (removed < limit) await run(DELETE_COUNT, [account])
        return removed
      }),
  }
}

export function postgresEvents({ read }: Pick<Database, 'read'>, now: () => Promise<Instant>): EventReader {
  return {
    events: async (account, after, limit) =>
      read<StoredEvent>(READ, [account, after, (await now()) - EVENT_SECONDS, limit]),
    eventsBefore: async (account, before, limit) =>
      read<StoredEvent>(READ_BEFORE, [
        account,
        before ?? Number.MAX_SAFE_INTEGER,
        (await now()) - EVENT_SECONDS,
        limit,
      ]),
    accountsWithEvents: async (after, last) =>
      (await read<{ account: number }>(READ_ACCOUNTS, [after, last])).map(({ account }) => account),
    lastEvent: async () => (await read<{ number: number | null }>(READ_LAST))[0]!.number ?? 0,
    highestNumber: async () => (await read<{ number: number | null }>(READ_HIGHEST))[0]!.number ?? 0,
  }
}
