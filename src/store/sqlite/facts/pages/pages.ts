/** Pages of shared rows on SQLite: ranges by key. The first slice is read here, the rest in a thread. */

import type { DatabaseSync } from 'node:sqlite'
import { slotOf } from '../../../../values/domain-name.ts'
import { compareAddresses, type IpAddress, packAddress, unpackHex } from '../../../../values/ip-address.ts'
import type { FactsReader, NeighbourPosition, RowPage } from '../../../port/store.ts'
import { JSON_ROW_SEPARATOR, joinJsonRows } from '../../../shared/json-page.ts'
import { lastObservedOf } from '../../../shared/lookup.ts'
import type { BeginRead } from '../../database/read-turn.ts'
import type { LongPages } from './long-pages.ts'
import { type RowPosition, type RowRange, type RowReader, type RowSelection, rowReaders } from './row-reader.ts'

/** Rows and ranges that are read here: some tenths of a millisecond. */
const MAX_ROWS_HERE = 1_000
const MAX_RANGES_HERE = 50

/** Rows that the statement of a name reads itself. */
const MAX_ROWS_OF_NAME = 100
/** What that statement puts between addresses, and in place of an address in its rows. */
const ADDRESS_SEPARATOR = '\n'
const ADDRESS_MARK = '\t'

/**
 * The clocks and addresses of the name `?2`, and the rows of /reverseip if the counters say that they are at most `?3`:
 * one statement costs less than two for each address and two for the name. `?4`, `?5`: between name and time of a row,
 * and between rows.
 */
const READ_NEIGHBOURS_OF = `select v.clock, v.other_clocks, f.addresses,
    iif((select sum(a.names - 1) from json_each(f.addresses) j join address_count a on a.address = unhex(j.value)) <= ?3,
      (select group_concat(coalesce((select group_concat(p.name || ?4 || p.since, ?5) from presence p
        where p.address = unhex(j.value) and p.name <> ?2), ''), '${ADDRESS_SEPARATOR}') from json_each(f.addresses) j), null)
  from crawl_state v left join facts f on f.id = v.id where v.slot = ?1 and v.name = ?2`

type NeighboursRow = [clock: number, otherClocks: Uint8Array | null, addresses: string | null, rows: string | null]

/** `beginRead`: called before each read. */
export function sqlitePages(
  database: DatabaseSync,
  beginRead: BeginRead,
  longPages: LongPages,
): Pick<FactsReader, 'redirects' | 'neighbours' | 'neighboursOf'> {
  const readerOf = rowReaders(database)
  const neighboursOf = database.prepare(READ_NEIGHBOURS_OF)
  neighboursOf.setReturnArrays(true)
  const read = (selection: RowSelection, limit: number): Promise<RowPage<RowPosition>> => {
    beginRead()
    return readPage(readerOf(selection), selection, limit, longPages)
  }
  const neighbours: FactsReader['neighbours'] = async (addresses, except, after, limit) => {
    const remaining = addressesAfter(addresses, after)
    const from = remaining[0] === after?.address ? (after?.name ?? '') : ''
    const page = await read({ table: 'presence', ranges: remaining.map(rangeOf), after: from, except }, limit)
    return { ...page, last: page.last && { address: remaining[page.last.range]!, name: page.last.name } }
  }
  return {
    async redirects(target, after, limit) {
      const selection: RowSelection = { table: 'redirect', ranges: [{ key: target }], after: after ?? '', except: null }
      const page = await read(selection, limit)
      return { ...page, last: page.last?.name ?? null }
    },
    neighbours,
    async neighboursOf(name, after, limit) {
      beginRead()
      const maxRows = after === null ? Math.min(limit, MAX_ROWS_OF_NAME) : -1
      const values = [slotOf(name), name, maxRows, middleOf(ADDRESS_MARK), JSON_ROW_SEPARATOR]
      const row = neighboursOf.get(...values) as unknown as NeighboursRow | undefined
      if (row === undefined) return { addresses: [], page: shortPage([]), lastObserved: { dns: null, web: null } }
      const [clock, other_clocks, hexes, rows] = row
      const addresses = (JSON.parse(hexes ?? '[]') as string[]).map(unpackHex)
      const page = rows === null ? await neighbours(addresses, name, after, limit) : pageOfRows(addresses, rows)
      return { addresses, page, lastObserved: lastObservedOf({ clock, other_clocks }) }
    },
  }
}

/** `rows`: those of all addresses, as READ_NEIGHBOURS_OF returns them. */
function pageOfRows(addresses: readonly IpAddress[], rows: string): RowPage<NeighbourPosition> {
  const slices = rows.split(ADDRESS_SEPARATOR).map((slice, index) => slice.replaceAll(ADDRESS_MARK, addresses[index]!))
  return shortPage(slices.filter((slice) => slice !== ''))
}

/** A page with all rows. */
function shortPage(slices: readonly string[]): RowPage<NeighbourPosition> {
  const count = slices.reduce((sum, slice) => sum + slice.split(JSON_ROW_SEPARATOR).length, 0)
  return { rows: joinJsonRows(slices), count, last: null }
}

async function readPage(
  reader: RowReader,
  { table, except }: RowSelection,
  limit: number,
  longPages: LongPages,
): Promise<RowPage<RowPosition>> {
  const slices: string[] = []
  let count = 0
  for (
    let ranges = 0;
    count < Math.min(limit, MAX_ROWS_HERE) && ranges < MAX_RANGES_HERE && !reader.isAtEnd;
    ranges++
  ) {
    const slice = reader.next(Math.min(limit, MAX_ROWS_HERE) - count)
    if (slice.json !== null) slices.push(slice.json)
    count += slice.count
  }
  if (reader.isAtEnd) return { rows: joinJsonRows(slices), count, last: null }
  if (count === limit) return { rows: joinJsonRows(slices), count, last: reader.hasMore() ? reader.last : null }
  const { firstRange, ranges, after } = reader.remaining()
  const rest = await longPages.read({ selection: { table, ranges, after, except }, limit: limit - count })
  const last = rest.last && { range: firstRange + rest.last.range, name: rest.last.name }
  return { rows: joinJsonRows(slices, rest.rows), count: count + rest.count, last, release: rest.release }
}

function rangeOf(address: IpAddress): RowRange {
  return { key: packAddress(address), middle: middleOf(address) }
}

/** The JSON between the name and the time of a row. */
function middleOf(address: string): string {
  return `","ip":"${address}","since":"`
}

/** The addresses that are not read completely. The address of the position itself may have been removed. */
function addressesAfter(addresses: readonly IpAddress[], after: NeighbourPosition | null): IpAddress[] {
  return addresses.filter((address) => after === null || compareAddresses(address, after.address) >= 0)
}
