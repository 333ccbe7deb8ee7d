/** Pages of shared rows on PostgreSQL: ranges by key, converted to JSON by the server, long ones in slices. */

import type { DomainName } from '../../../values/domain-name.ts'
import { compareAddresses, type IpAddress } from '../../../values/ip-address.ts'
import type { FactsReader, NeighbourPosition, RowPage } from '../../port/store.ts'
import { JSON_ROW_SEPARATOR, joinJsonRows } from '../../shared/json-page.ts'
import { addressArray, plainArray, textArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import { partitionOfAddress, partitionOfName } from '../database/partition.ts'
import type { ReadStatement } from '../database/pipelined-reader.ts'
import { inShardSql, type ShardBatch, type Shards } from '../database/shards.ts'

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
const READ_NEIGHBOURS = {
  name: 'pages.neighbours',
  text: `select count(*) as count, string_agg(name || middle || since, '${JSON_ROW_SEPARATOR}') as text from (
    select p.name, a.middle, p.since
    from unnest($1::smallint[], $2::bytea[], $3::text[], $4::text[]) as a(part, address, after, middle)
    cross join lateral (
      select p.name, p.since from presence p
      where p.part = a.part and ${inShardSql('p.part', 7)} and p.address = a.address and p.name > a.after and p.name <> $5
      order by p.name limit $6) p
    limit $6) r`,
}

/** Rows as the server wrote them: from the first name to the end of the last value. All of it is ASCII. */
type PageSlice = { count: number; text: string | null }
/** Reads at most `maxRows` rows after a position. */
type SliceReader<Position> = (after: Position | null, maxRows: number) => Promise<PageSlice>

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

type PageDatabase = Pick<Database, 'read' | 'readLong' | 'shards'>

function readerFor({ read, readLong }: Pick<PageDatabase, 'read' | 'readLong'>, rows: number): ReadStatement {
  return rows < LONG_READ_ROWS ? read : readLong
}

function lastRowOf(text: string): string {
  const before = text.lastIndexOf(JSON_ROW_SEPARATOR)
  return before < 0 ? text : text.slice(before + JSON_ROW_SEPARATOR.length)
}

export function postgresRedirects(database: PageDatabase): FactsReader['redirects'] {
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

export function postgresNeighbours(database: PageDatabase): FactsReader['neighbours'] {
  return (addresses, except, after, limit) => {
    const readSlice: SliceReader<NeighbourPosition> = async (from, maxRows) => {
      const texts: string[] = []
      let left = maxRows
      for (const { parts, rows } of shardRuns(await database.shards(), remainingAddresses(addresses, from))) {
        const values = [...neighbourColumns(rows, from), except ?? '', left, parts]
        const [slice] = await readerFor(database, maxRows)<PageSlice>(READ_NEIGHBOURS, values)
        if (slice!.text !== null) texts.push(slice!.text)
        left -= slice!.count
        if (left === 0) break
      }
      return { count: maxRows - left, text: texts.length === 0 ? null : texts.join(JSON_ROW_SEPARATOR) }
    }
    return readRowPage(readSlice, neighbourPositionOf, after, limit)
  }
}

/** The columns of `a` in READ_NEIGHBOURS. */
function neighbourColumns(addresses: readonly IpAddress[], from: NeighbourPosition | null): string[] {
  return [
    plainArray(addresses.map(partitionOfAddress)),
    addressArray(addresses),
    textArray(addresses.map((address) => (address === from?.address ? from.name : ''))),
    textArray(addresses.map((address) => `","ip":"${address}","since":"`)),
  ]
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
