/** Pages of shared rows on PostgreSQL: ranges by key, made to JSON by the server, long ones in slices. */

import { type Address, compareAddresses } from '../../words/address.ts'
import type { Name } from '../../words/name.ts'
import { BETWEEN, jsonOf } from '../page.ts'
import type { Facts, NeighbourPosition, Page, RowFormat, Rows } from '../store.ts'
import { addressArray, plainArray, textArray } from './arrays.ts'
import type { Database } from './database.ts'
import { partOf, partOfAddress } from './part.ts'
import type { Read } from './reader.ts'

/** Rows read at once: some milliseconds of a connection that other reads share. */
const SLICE_ROWS = 5000
/** From so many rows on a slice goes the way of what takes long. */
const LONG_ROWS = 500

const REDIRECTS = {
  name: 'pages.redirects',
  text: `select count(*) as count, string_agg(source, '${BETWEEN}') as text from (
    select source from redirect where part = $1 and target = $2 and source > $3 order by source limit $4) r`,
}
/** Address by address in the order given, each from the name that it is given with; `middle` stands between name and time. */
const NEIGHBOURS = {
  name: 'pages.neighbours',
  text: `select count(*) as count, string_agg(name || middle || since, '${BETWEEN}') as text from (
    select p.name, a.middle, p.since
    from unnest($1::smallint[], $2::bytea[], $3::text[], $4::text[]) as a(part, address, after, middle)
    cross join lateral (
      select p.name, p.since from presence p
      where p.part = a.part and p.address = a.address and p.name > a.after and p.name <> $5 order by p.name limit $6) p
    limit $6) r`,
}

/** Rows as the server wrote them: from the first name to the end of the last value. All of it is ASCII. */
type Slice = { count: number; text: string | null }
/** Reads at most `most` rows after a position. */
type Reader<Position> = (after: Position | null, most: number) => Promise<Slice>

/** Reads slices until the page is full, each with one row more than it takes, to know whether others follow. */
async function page<Row, F extends RowFormat, Position>(
  read: Reader<Position>,
  positionOf: (row: string) => Position,
  from: Position | null,
  limit: number,
  as: F,
): Promise<Page<Row, F, Position>> {
  const texts: string[] = []
  let left = limit
  let last = from
  let more = true
  while (left > 0 && more) {
    const most = Math.min(left, SLICE_ROWS)
    const { count, text } = await read(last, most + 1)
    more = count > most
    left -= Math.min(count, most)
    if (text === null) break
    const taken = more ? text.slice(0, text.lastIndexOf(BETWEEN)) : text
    last = positionOf(lastRow(taken))
    texts.push(taken)
  }
  return { rows: rowsOf<Row, F>(texts, as), count: limit - left, last: more ? last : null }
}

type Ways = Pick<Database, 'read' | 'readLong'>

function readerFor({ read, readLong }: Ways, rows: number): Read {
  return rows < LONG_ROWS ? read : readLong
}

function lastRow(text: string): string {
  const before = text.lastIndexOf(BETWEEN)
  return before < 0 ? text : text.slice(before + BETWEEN.length)
}

function rowsOf<Row, F extends RowFormat>(texts: readonly string[], as: F): Rows<Row, F> {
  const json = jsonOf(texts.map((text) => Buffer.from(text, 'latin1')))
  const rows = as === 'json' ? json : JSON.parse(Buffer.concat(json).toString('latin1'))
  return rows as Rows<Row, F>
}

export function redirectsOf(database: Ways): Facts['redirects'] {
  return (target, after, limit, as) => {
    const readSlice: Reader<Name> = async (from, most) => {
      const [slice] = await readerFor(database, most)<Slice>(REDIRECTS, [partOf(target), target, from ?? '', most])
      return slice!
    }
    return page(readSlice, (row) => row as Name, after, limit, as)
  }
}

export function neighboursOf(database: Ways): Facts['neighbours'] {
  return (addresses, except, after, limit, as) => {
    const readSlice: Reader<NeighbourPosition> = async (from, most) => {
      const walk = remaining(addresses, from)
      const columns = [
        plainArray(walk.map(partOfAddress)),
        addressArray(walk),
        textArray(walk.map((address) => (address === from?.address ? from.name : ''))),
        textArray(walk.map((address) => `","ip":"${address}","since":"`)),
      ]
      const [slice] = await readerFor(database, most)<Slice>(NEIGHBOURS, [...columns, except ?? '', most])
      return slice!
    }
    return page(readSlice, neighbourOf, after, limit, as)
  }
}

/** `name","ip":"address","since":"time` */
function neighbourOf(row: string): NeighbourPosition {
  const [name, , , , address] = row.split('"')
  return { address: address as Address, name: name as Name }
}

/** The addresses that a walk still has before it; its own may be gone by now. */
function remaining(addresses: readonly Address[], after: NeighbourPosition | null): Address[] {
  return addresses.filter((address) => after === null || compareAddresses(address, after.address) >= 0)
}
