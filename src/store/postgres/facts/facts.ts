/** The facts on PostgreSQL: every query is a look-up by key or a range of one key, in one statement per shard. */

import type { Interruption } from '../../../apply/change.ts'
import { RECORD_TYPE_NUMBERS, STATE_TYPE_NUMBERS } from '../../../apply/stored-numbers.ts'
import { type DomainName, slotOf } from '../../../values/domain-name.ts'
import { compareAddresses, type IpAddress, packAddress, unpackHex } from '../../../values/ip-address.ts'
import type { RecordType } from '../../../values/records/dns-record.ts'
import type { FurtherStateType } from '../../../values/state-type.ts'
import type { Instant } from '../../../values/time.ts'
import { parseCutoffs } from '../../inverse/pruned-history.ts'
import type { FactsReader, History, NeighbourPosition, RowPage } from '../../port/store.ts'
import { parseStates, type StoredStates } from '../../shared/columns.ts'
import {
  certificateHistoryPage,
  historyPageOfType,
  type StateRow,
  WEB_HISTORY_COLUMNS,
  type WebHistoryRow,
  webHistoryPage,
} from '../../shared/history.ts'
import { JSON_ROW_SEPARATOR, joinJsonRows, neighbourMiddle } from '../../shared/json-page.ts'
import { type ClockRow, lastObservedOf, partClocksOf } from '../../shared/lookup.ts'
import { type SummaryRow, unpackSummary } from '../../shared/profiles.ts'
import { plainArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import { crawlStateKey, partitionOfAddress, partitionOfName } from '../database/partition.ts'
import type { ReadStatement } from '../database/pipelined-reader.ts'
import { rowStatement } from '../database/row-statements.ts'
import type { ShardBatch, Shards } from '../database/shards.ts'
import { certificateReader } from './certificates.ts'
import { postgresLookups, shardedLookups } from './lookups.ts'
import { FACTS_SELECT_COLUMNS, nameStatement, READ_PART_CLOCKS, shardedReader } from './observations.ts'
import { postgresAddressProfile, postgresDomainProfile, shardedDomainProfile } from './profiles.ts'
import { READ_CUTOFFS } from './pruning.ts'

/** Rows per read: some milliseconds of a connection that other reads share. */
const PAGE_SLICE_ROWS = 5000

/** Slices with at least this many rows use the connections for long reads. */
const LONG_READ_ROWS = 500

const READ_REDIRECTS = {
  name: 'pages.redirects',
  text: `select count(*) as count, string_agg(source, '${JSON_ROW_SEPARATOR}') as text from (
    select source from redirect where part = $1 and target = $2 and source > $3 order by source limit $4) r`,
}

/**
 * Address by address in the given order, each after the given name. `middle` is the text between name and time. All
 * addresses are in one shard.
 */
const READ_NEIGHBOURS = rowStatement<AddressToRead>(
  'pages.neighbours',
  { part: 'smallint', address: 'bytes', after: 'text', middle: 'text' },
  ({ rows, inShard, parameter }) =>
    `select count(*) as count, string_agg(name || middle || since, '${JSON_ROW_SEPARATOR}') as text from (
    select p.name, k.middle, p.since from ${rows}
    cross join lateral (
      select p.name, p.since from presence p
      where p.part = k.part and ${inShard('p.part')} and p.address = k.address and p.name > k.after
        and p.name <> ${parameter(1)}
      order by p.name limit ${parameter(2)}) p
    limit ${parameter(2)}) r`,
)
type AddressToRead = { part: number; address: Uint8Array; after: string; middle: string }

/** Rows as the server wrote them: from the first name to the end of the last value. All of it is ASCII. */
type PageSlice = { count: number; text: string | null }

/** Reads at most `maxRows` rows after a position. */
type SliceReader<Position> = (after: Position | null, maxRows: number) => Promise<PageSlice>

type PageDatabase = Pick<Database, 'read' | 'readLong' | 'shards'>

/**
 * A superseded state, without clocks. `type` null: the clocks and the newest states, in `records` as the facts store
 * them; null without facts.
 */
type HistoryRow = StateRow & ClockRow & { type: number | null }

/** Later than any state. */
const AFTER_ALL_STATES: Instant = 2 ** 48

/** The partition is a parameter for every table, so that Citus sends the statement to one shard. */
const READ_HISTORY = {
  name: 'facts.history',
  text: `with f as materialized (
      select v.clock, v.other_clocks, f.id, f.states from crawl_state v left join facts f on f.part = $1 and f.id = v.id
      where v.part = $1 and v.slot = $2 and v.name = $3)
    select clock, other_clocks, null::smallint as type, null::bigint as first_seen, null::bigint as last_confirmed,
      states as records, null::bigint as serial, null::text as "baseRecords" from f
    union all
    select null, null, s.type, s.first_seen, s.last_confirmed, s.records, s.serial, b.records from f
    cross join unnest($4::smallint[]) as t(type)
    cross join lateral (
      select * from dns_state s where s.part = $1 and s.id = f.id and s.type = t.type and s.first_seen < $5
      order by s.first_seen desc limit $6) s
    left join dns_state b on b.part = $1 and b.id = s.id and b.type = s.type and b.first_seen = s.base_first_seen`,
}

const READ_INTERRUPTIONS = {
  name: 'facts.interruptions',
  text: `select i.last_seen, i.seen_again from crawl_state v join dns_interruption i on i.part = $1 and i.id = v.id
    where v.part = $1 and v.slot = $2 and v.name = $3 and i.type = $4 and i.seen_again < $5 order by i.seen_again desc limit $6`,
}

const READ_WEB_HISTORY = {
  name: 'facts.web-history',
  text: `select ${WEB_HISTORY_COLUMNS},
      coalesce((select json_agg(json_build_object('first_seen', first_seen, 'last_confirmed', last_confirmed, 'records', records)
          order by first_seen desc)
        from (select first_seen, last_confirmed, records from dns_state s
          where s.part = $1 and s.id = f.id and s.type = $6 and s.first_seen < $4
          order by s.first_seen desc limit $5) s), '[]')::text as older
    from crawl_state v join facts f on f.part = $1 and f.id = v.id where v.part = $1 and v.slot = $2 and v.name = $3`,
}

const CRAWL_STATE_OF_NAME = 'v.part = $1 and v.slot = $2 and v.name = $3'
const READ_CLOCKS = {
  name: 'facts.clocks',
  text: `select clock, other_clocks from crawl_state v where ${CRAWL_STATE_OF_NAME}`,
}
const READ_CLOCKS_AND_ADDRESSES = {
  name: 'facts.clocks-and-addresses',
  text: `select v.clock, v.other_clocks, (select json_agg(encode(a, 'hex')) from unnest(f.addresses) a)::text as hexes
    from crawl_state v left join facts f on f.part = $1 and f.id = v.id where ${CRAWL_STATE_OF_NAME}`,
}

/** `oldest`: when the oldest superseded state began. */
type NamedSummary = SummaryRow & { name: DomainName; oldest: Instant | null }
const READ_SUMMARIES = nameStatement(
  'facts.summaries',
  `v.id, v.clock, v.other_clocks, v.registered, ${FACTS_SELECT_COLUMNS.join(', ')}, o.oldest`,
  ({ inShard }) => `left join facts f on f.part = v.part and f.id = v.id and ${inShard('f.part')}
    left join lateral (
      select min(s.first_seen) as oldest from unnest('{${Object.values(STATE_TYPE_NUMBERS)}}'::smallint[]) t(type)
      cross join lateral (select first_seen from dns_state s
        where s.part = f.part and s.id = f.id and s.type = t.type and ${inShard('s.part')}
        order by first_seen limit 1) s) o on true`,
)

export function postgresFacts(database: Database): FactsReader {
  const { read } = database
  const readByShard = shardedReader(database)
  return {
    lookup: database.hasCitus ? shardedLookups(database) : postgresLookups(read),
    domainProfile: database.hasCitus ? shardedDomainProfile(database) : postgresDomainProfile(read),
    addressProfile: postgresAddressProfile(read),
    async clocks(name) {
      const [row] = await read<ClockRow>(READ_CLOCKS, crawlStateKey(name))
      return lastObservedOf(row)
    },
    async partClocks(names) {
      const rows = await readByShard<ClockRow & { name: DomainName }>(READ_PART_CLOCKS, names)
      const byName = new Map(rows.map((row) => [row.name, row]))
      return names.map((name) => partClocksOf(byName.get(name)))
    },
    async summaries(names) {
      const rows = await readByShard<NamedSummary>(READ_SUMMARIES, names)
      const byName = new Map(rows.map((row) => [row.name, row]))
      return names.map((name) => {
        const row = byName.get(name)
        return unpackSummary(name, row, () => row!.oldest)
      })
    },
    certificates: certificateReader(database),
    redirects: postgresRedirects(database),
    ...postgresNeighbours(database),
    history: postgresHistory(read),
    ...postgresWebHistories(database),
    interruptions: postgresInterruptions(read),
    prunedUntil: async () => parseCutoffs((await read<{ value: string }>(READ_CUTOFFS))[0]?.value),
  }
}

function postgresInterruptions(read: ReadStatement): FactsReader['interruptions'] {
  return (name, type, before, limit) => {
    const key = [partitionOfName(name), slotOf(name), name, RECORD_TYPE_NUMBERS[type]]
    return read<Interruption>(READ_INTERRUPTIONS, [...key, before ?? AFTER_ALL_STATES, limit])
  }
}

/** The states of the web verdict, or of the certificate. */
function postgresWebHistories(database: Database): Pick<FactsReader, 'webHistory' | 'certificateHistory'> {
  const readCertificates = certificateReader(database)
  const readRow = async (type: FurtherStateType, name: DomainName, before: Instant | null, limit: number) => {
    const values = [...crawlStateKey(name), before ?? AFTER_ALL_STATES, limit + 1, STATE_TYPE_NUMBERS[type]]
    const [row] = await database.read<WebHistoryRow>(READ_WEB_HISTORY, values)
    return row
  }
  return {
    webHistory: async (name, before, limit) =>
      webHistoryPage(name, await readRow('web', name, before, limit), before, limit),
    certificateHistory: async (name, before, limit) =>
      certificateHistoryPage(await readRow('certificate', name, before, limit), before, limit, readCertificates),
  }
}

function postgresHistory(read: ReadStatement): FactsReader['history'] {
  return async <T extends RecordType>(name: DomainName, types: readonly T[], before: Instant | null, limit: number) => {
    const typeNumbers = plainArray(types.map((type) => RECORD_TYPE_NUMBERS[type]))
    const rows = await read<HistoryRow>(READ_HISTORY, [
      partitionOfName(name),
      slotOf(name),
      name,
      typeNumbers,
      before ?? AFTER_ALL_STATES,
      limit + 1,
    ])
    const current = rows.find(({ type }) => type === null)
    const newest: StoredStates = current?.records ? parseStates(current.records) : {}
    const entries = types.map((type): [T, History] => {
      const older = rows.filter((row) => row.type === RECORD_TYPE_NUMBERS[type])
      older.sort((a, b) => b.first_seen - a.first_seen)
      return [type, historyPageOfType(type, newest[type], older, before, limit)]
    })
    const byType = Object.fromEntries(entries) as Record<T, History>
    return { byType, lastObserved: lastObservedOf(current) }
  }
}

/** Reads slices until the page is full. Each reads one extra row to learn whether more rows follow. */
async function readRowPage<Position>(
  read: SliceReader<Position>,
  positionOf: (row: string) => Position,
  from: Position | null,
  limit: number,
): Promise<RowPage<Position>> {
  const texts: string[] = []
  let left = limit
  let last = from
  let more = true
  while (left > 0 && more) {
    const max = Math.min(left, PAGE_SLICE_ROWS)
    const { count, text } = await read(last, max + 1)
    more = count > max
    left -= Math.min(count, max)
    if (text === null) break
    const pageText = more ? text.slice(0, text.lastIndexOf(JSON_ROW_SEPARATOR)) : text
    last = positionOf(lastRowOf(pageText))
    texts.push(pageText)
  }
  return { rows: joinJsonRows(texts), count: limit - left, last: more ? last : null }
}

function readerFor({ read, readLong }: Pick<PageDatabase, 'read' | 'readLong'>, rows: number): ReadStatement {
  return rows < LONG_READ_ROWS ? read : readLong
}

function lastRowOf(text: string): string {
  const before = text.lastIndexOf(JSON_ROW_SEPARATOR)
  return before < 0 ? text : text.slice(before + JSON_ROW_SEPARATOR.length)
}

/** Pages of shared rows on PostgreSQL: ranges by key, converted to JSON by the server, long ones in slices. */
function postgresRedirects(database: PageDatabase): FactsReader['redirects'] {
  return (target, after, limit) => {
    const readSlice: SliceReader<DomainName> = async (from, maxRows) => {
      const [slice] = await readerFor(database, maxRows)<PageSlice>(READ_REDIRECTS, [
        partitionOfName(target),
        target,
        from ?? '',
        maxRows,
      ])
      return slice!
    }
    return readRowPage(readSlice, (row) => row as DomainName, after, limit)
  }
}

function postgresNeighbours(database: PageDatabase): Pick<FactsReader, 'neighbours' | 'neighboursOf'> {
  const neighbours: FactsReader['neighbours'] = (addresses, except, after, limit) => {
    const readSlice: SliceReader<NeighbourPosition> = async (from, maxRows) => {
      const texts: string[] = []
      let left = maxRows
      for (const { parts, rows } of shardRuns(await database.shards(), remainingAddresses(addresses, from))) {
        const columns = READ_NEIGHBOURS.valuesOf(rows.map((address) => addressToRead(address, from)))
        const values = [...columns, parts, except ?? '', left]
        const [slice] = await readerFor(database, maxRows)<PageSlice>(READ_NEIGHBOURS, values)
        if (slice!.text !== null) texts.push(slice!.text)
        left -= slice!.count
        if (left === 0) break
      }
      return { count: maxRows - left, text: texts.length === 0 ? null : texts.join(JSON_ROW_SEPARATOR) }
    }
    return readRowPage(readSlice, neighbourPositionOf, after, limit)
  }
  return {
    neighbours,
    async neighboursOf(name, after, limit) {
      const [row] = await database.read<ClockRow & { hexes: string | null }>(
        READ_CLOCKS_AND_ADDRESSES,
        crawlStateKey(name),
      )
      const addresses = (JSON.parse(row?.hexes ?? '[]') as string[]).map(unpackHex)
      const page = await neighbours(addresses, name, after, limit)
      return { addresses, page, lastObserved: lastObservedOf(row) }
    },
  }
}

function addressToRead(address: IpAddress, from: NeighbourPosition | null): AddressToRead {
  return {
    part: partitionOfAddress(address),
    address: packAddress(address),
    after: address === from?.address ? from.name : '',
    middle: neighbourMiddle(address),
  }
}

/** The addresses in their order, as batches of successive ones that are in the same shard. */
function shardRuns({ batches }: Shards, addresses: readonly IpAddress[]): ShardBatch<IpAddress>[] {
  const runs: { parts: string | null; rows: IpAddress[] }[] = []
  for (const address of addresses) {
    const { parts } = batches([address], partitionOfAddress)[0]!
    const run = runs.at(-1)
    if (run?.parts === parts) run.rows.push(address)
    else runs.push({ parts, rows: [address] })
  }
  return runs
}

/** `name","ip":"address","since":"time` */
function neighbourPositionOf(row: string): NeighbourPosition {
  const [name, , , , address] = row.split('"')
  return { address: address as IpAddress, name: name as DomainName }
}

/** The addresses from the position on. The address of the position itself may have been removed. */
function remainingAddresses(addresses: readonly IpAddress[], after: NeighbourPosition | null): IpAddress[] {
  return addresses.filter((address) => after === null || compareAddresses(address, after.address) >= 0)
}
