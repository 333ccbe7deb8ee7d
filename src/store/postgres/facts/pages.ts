/** Pages of shared rows on PostgreSQL: ranges by key, converted to JSON by the server, long ones in slices. */

import type { DomainName } from '../../../values/domain-name.ts'
import { compareAddresses, type IpAddress } from '../../../values/ip-address.ts'
import type { FactsReader, NeighbourPosition, RowPage } from '../../port/store.ts'
import { JSON_ROW_SEPARATOR, joinJsonRows } from '../../shared/json-page.ts'
import { addressArray, plainArray, textArray } from '../database/arrays.ts'
import type { Database } from '../database/database.ts'
import { partitionOfAddress, partitionOfName } from '../database/partition.ts'
import type { ReadStatement } from '../database/pipelined-reader.ts'

/** Rows per read: some milliseconds of a connection that other reads share. */
const PAGE_SLICE_ROWS = 5000
/** Slices with at least this many rows use the connections for long reads. */
const LONG_READ_ROWS = 500

const READ_REDIRECTS = {
  name: 'pages.redirects',
  text: `select count(*) as count, string_agg(source, '${JSON_ROW_SEPARATOR}') as text from (
    select source from redirect where part = $1 and target = $2 and source > $3 order by source limit $4) r`,
}
/** Address by address in the given order, each after the given name. `middle` is the text between name and time. */
const READ_NEIGHBOURS = {
  name: 'pages.neighbours',
  text: `select count(*) as count, string_agg(name || middle || since, '${JSON_ROW_SEPARATOR}') as text from (
    select p.name, a.middle, p.since
    from unnest($1::smallint[], $2::bytea[], $3::text[], $4::text[]) as a(part, address, after, middle)
    cross join lateral (
      select p.name, p.since from presence p
      where p.part = a.part and p.address = a.address and p.name > a.after and p.name <> $5 order by p.name limit $6) p
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

type PageDatabase = Pick<Database, 'read' | 'readLong'>

function readerFor({ read, readLong }: PageDatabase, rows: number): ReadStatement {
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
      const remaining = remainingAddresses(addresses, from)
      const columns = [
        plainArray(remaining.map(partitionOfAddress)),
        addressArray(remaining),
        textArray(remaining.map((address) => (address === from?.address ? from.name : ''))),
        textArray(remaining.map((address) => `","ip":"${address}","since":"`)),
      ]
      const [slice] = await readerFor(database, maxRows)<PageSlice>(READ_NEIGHBOURS, [
        ...columns,
        except ?? '',
        maxRows,
      ])
      return slice!
    }
    return readRowPage(readSlice, neighbourPositionOf, after, limit)
  }
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
