/** The facts on SQLite: every query is a look-up by key or a range of one key. A profile is one statement of them. */

import type { DatabaseSync } from 'node:sqlite'
import type { Interruption } from '../../../apply/change.ts'
import { RECORD_TYPE_NUMBERS, STATE_TYPE_NUMBERS } from '../../../apply/stored-numbers.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { packAddress } from '../../../values/ip-address.ts'
import type { FurtherStateType } from '../../../values/state-type.ts'
import type { Instant } from '../../../values/time.ts'
import type { FactsReader, History } from '../../port/store.ts'
import { parseStates, type StoredStates } from '../../shared/columns.ts'
import {
  certificateHistoryPage,
  historyPageOfType,
  type StateRow,
  WEB_HISTORY_COLUMNS,
  type WebHistoryRow,
  webHistoryPage,
} from '../../shared/history.ts'
import {
  type ClockRow,
  LOOKUP_COLUMNS,
  type LookupRow,
  lastObservedOf,
  partClocksOf,
  unpackLookup,
} from '../../shared/lookup.ts'
import {
  type AddressProfileRow,
  type ProfileRow,
  type SummaryRow,
  unpackAddressProfile,
  unpackDomainProfile,
  unpackSummary,
} from '../../shared/profiles.ts'
import { readTransaction } from '../database/connection.ts'
import type { BeginRead } from '../database/read-iteration.ts'
import { certificateReader } from './certificates.ts'
import type { LongPages } from './pages/long-pages.ts'
import { sqlitePages } from './pages/pages.ts'
import { cutoffReader } from './pruning.ts'

/** The columns of a LookupRow, of the crawl state `v` of the name `?2` and its facts `f`. */
const LOOKUP_ROW_SQL = `${LOOKUP_COLUMNS},
  (select sources from redirect_count where target = ?2) as redirects,
  (select sum(a.names - 1) from json_each(f.addresses) j join address_count a on a.address = unhex(j.value)) as neighbours`

/** `beginRead`: called before each read. */
export function sqliteFacts(database: DatabaseSync, beginRead: BeginRead, longPages: LongPages): FactsReader {
  const lookup = database.prepare(
    `select ${LOOKUP_ROW_SQL} from crawl_state v left join facts f on f.id = v.id where v.slot = ?1 and v.name = ?2`,
  )
  lookup.setReturnArrays(true)
  const clocks = database.prepare('select clock, other_clocks from crawl_state where slot = ? and name = ?')
  return {
    async lookup(name) {
      beginRead()
      const row = lookup.get(slotOf(name), name) as unknown as LookupRow | undefined
      return row ? unpackLookup(row) : null
    },
    async clocks(name) {
      beginRead()
      const row = clocks.get(slotOf(name), name) as ClockRow | undefined
      return lastObservedOf(row)
    },
    async partClocks(names) {
      beginRead()
      return names.map((name) => partClocksOf(clocks.get(slotOf(name), name) as ClockRow | undefined))
    },
    summaries: sqliteSummaries(database, beginRead),
    certificates: certificateReader(database, beginRead),
    ...sqliteProfiles(database, beginRead),
    ...sqlitePages(database, beginRead, longPages),
    history: sqliteHistory(database, beginRead),
    ...sqliteWebHistories(database, beginRead),
    interruptions: sqliteInterruptions(database, beginRead),
    prunedUntil: cutoffReader(database, beginRead),
  }
}

function sqliteSummaries(database: DatabaseSync, beginRead: BeginRead): FactsReader['summaries'] {
  const summary = database.prepare(
    `select f.*, v.id, v.clock, v.other_clocks, v.registered
     from crawl_state v left join facts f on f.id = v.id where v.slot = ? and v.name = ?`,
  )
  const firstState = database.prepare('select min(first_seen) as first from dns_state where id = ? and type = ?')
  return async (names) => {
    beginRead()
    return readTransaction(database, () =>
      names.map((name) => {
        const row = summary.get(slotOf(name), name) as SummaryRow | undefined
        return unpackSummary(name, row, (type) => firstState.get(row!.id, STATE_TYPE_NUMBERS[type])!.first as Instant)
      }),
    )
  }
}

function sqliteInterruptions(database: DatabaseSync, beginRead: BeginRead): FactsReader['interruptions'] {
  const select = database.prepare(
    `select i.last_seen, i.seen_again from crawl_state v join dns_interruption i on i.id = v.id
     where v.slot = ? and v.name = ? and i.type = ? and i.seen_again < ? order by i.seen_again desc limit ?`,
  )
  return async (name, type, before, limit) => {
    beginRead()
    const key = [slotOf(name), name, RECORD_TYPE_NUMBERS[type], before ?? Number.MAX_SAFE_INTEGER, limit]
    return select.all(...key).map((row) => ({ ...row }) as Interruption)
  }
}

/** An array costs less than an object. The last two are null without facts. */
type HistoryFactsRow = [clock: number, otherClocks: Uint8Array | null, id: number | null, states: string | null]

/** The history on SQLite: the newest state of a type from the facts, superseded ones by time. */
function sqliteHistory(database: DatabaseSync, beginRead: BeginRead): FactsReader['history'] {
  const facts = database.prepare(
    `select v.clock, v.other_clocks, f.id, f.states
     from crawl_state v left join facts f on f.id = v.id where v.slot = ? and v.name = ?`,
  )
  facts.setReturnArrays(true)
  const states = database.prepare(
    `select s.first_seen, s.last_confirmed, s.records, s.serial, b.records as baseRecords
     from dns_state s left join dns_state b on b.id = s.id and b.type = s.type and b.first_seen = s.base_first_seen
     where s.id = ? and s.type = ? and s.first_seen < ? order by s.first_seen desc limit +?`,
  )
  return async (name, types, before, limit) => {
    beginRead()
    return readTransaction(database, () => {
      const row = facts.get(slotOf(name), name) as unknown as HistoryFactsRow | undefined
      const [clock, other_clocks, id, text] = row ?? [0, null, null, null]
      const current: StoredStates = text === null ? {} : parseStates(text)
      const byType = {} as Record<(typeof types)[number], History>
      for (const type of types) {
        const newest = current[type]
        const [first_seen = 0, count = 1] = newest ?? []
        const isOnlyState = count === 1
        const from = before ?? first_seen
        const older = isOnlyState ? [] : states.all(id, RECORD_TYPE_NUMBERS[type], from, limit + 1)
        byType[type] = historyPageOfType(type, newest, older as StateRow[], before, limit)
      }
      return { byType, lastObserved: lastObservedOf({ clock, other_clocks }) }
    })
  }
}

/** The states of the web verdict, or of the certificate. */
function sqliteWebHistories(
  database: DatabaseSync,
  beginRead: BeginRead,
): Pick<FactsReader, 'webHistory' | 'certificateHistory'> {
  const select = database.prepare(
    `select ${WEB_HISTORY_COLUMNS},
       (select json_group_array(json_object('first_seen', first_seen, 'last_confirmed', last_confirmed, 'records', records))
        from (select * from dns_state s where s.id = f.id and s.type = ?5 and s.first_seen < ?3
          order by s.first_seen desc limit +?4)) as older
     from crawl_state v join facts f on f.id = v.id where v.slot = ?1 and v.name = ?2`,
  )
  const readCertificates = certificateReader(database, beginRead)
  const read = (type: FurtherStateType, name: DomainName, before: Instant | null, limit: number) => {
    beginRead()
    const values = [slotOf(name), name, before ?? Number.MAX_SAFE_INTEGER, limit + 1, STATE_TYPE_NUMBERS[type]]
    return select.get(...values) as WebHistoryRow | undefined
  }
  return {
    webHistory: async (name, before, limit) => webHistoryPage(name, read('web', name, before, limit), before, limit),
    certificateHistory: async (name, before, limit) =>
      certificateHistoryPage(read('certificate', name, before, limit), before, limit, readCertificates),
  }
}

/** `beginRead`: called before each read. */
function sqliteProfiles(
  database: DatabaseSync,
  beginRead: BeginRead,
): Pick<FactsReader, 'domainProfile' | 'addressProfile'> {
  const ofDomain = database.prepare(
    `select ${LOOKUP_ROW_SQL}, f.states, f.addresses,
       (select json_group_array(json_array(j.value, p.since, a.names)) from json_each(f.addresses) j
        join presence p on p.address = unhex(j.value) and p.name = ?2
        join address_count a on a.address = p.address where j.key < ?3) as onAddresses
     from crawl_state v left join facts f on f.id = v.id where v.slot = ?1 and v.name = ?2`,
  )
  ofDomain.setReturnArrays(true)
  const ofAddress = database.prepare(
    `select (select names from address_count where address = ?1) as count,
       (select json_group_array(json_object('target', name, 'since', since) order by name)
        from (select name, since from presence where address = ?1 order by name limit +?2)) as domains`,
  )
  return {
    async domainProfile(name, maxAddresses) {
      beginRead()
      const row = ofDomain.get(slotOf(name), name, maxAddresses) as unknown as ProfileRow | undefined
      return row ? unpackDomainProfile(row) : null
    },
    async addressProfile(address, limit) {
      beginRead()
      return unpackAddressProfile(ofAddress.get(packAddress(address), limit) as AddressProfileRow)
    },
  }
}
