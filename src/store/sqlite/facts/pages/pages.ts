/** Pages of shared rows on SQLite: ranges by key. The first slice is read here, the rest in a thread. */

import type { DatabaseSync } from 'node:sqlite'
import { type DomainName, slotOf } from '../../../../values/domain-name.ts'
import { compareAddresses, type IpAddress, packAddress, unpackHex } from '../../../../values/ip-address.ts'
import type { FactsReader, NeighbourPosition, RowPage } from '../../../port/store.ts'
import { joinJsonRows, neighbourMiddle } from '../../../shared/json-page.ts'
import { lastObservedOf } from '../../../shared/lookup.ts'
import type { BeginRead } from '../../database/read-iteration.ts'
import type { LongPages } from './long-pages.ts'
import { type RowPosition, type RowRange, type RowReader, type RowSelection, rowReaders } from './row-reader.ts'

/** Rows and ranges that are read here: some tenths of a millisecond. */
const MAX_ROWS_HERE = 1_000
const MAX_RANGES_HERE = 50

/** The longest page that the statement of a name reads by itself. */
const MAX_ROWS_OF_NAME = 20

/**
 * The clocks and addresses of the name `?2`, and at most `?3` rows of /reverseip, as lines of the index of the address, the
 * name and the time, separated by tabs: one statement costs less than two for each address and two for the name.
 * `cross join` keeps their order: addresses as listed, then names by the primary key. (`+?3`: as in row-reader.ts.)
 */
const READ_NEIGHBOURS_OF = `select v.clock, v.other_clocks, f.addresses,
    (select group_concat(line, char(10)) from (select concat_ws(char(9), j.key, p.name, p.since) as line
      from (select key, value from json_each(f.addresses) limit ${MAX_RANGES_HERE}) j
      cross join presence p on p.address = unhex(j.value) and p.name <> ?2 limit +?3))
  from crawl_state v left join facts f on f.id = v.id where v.slot = ?1 and v.name = ?2`

type NeighboursRow = [clock: number, otherClocks: Uint8Array | null, addresses: string | null, lines: string | null]
/** A line of `lines`. */
type NeighbourLine = [index: string, name: DomainName, since: string]

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
      const maxRows = Math.min(limit, MAX_ROWS_OF_NAME)
      const values = [slotOf(name), name, after === null ? maxRows + 1 : 0]
      const row = neighboursOf.get(...values) as unknown as NeighboursRow | undefined
      if (row === undefined) return { addresses: [], page: pageOfLines([], [], limit), lastObserved: lastObservedOf() }
      const [clock, other_clocks, hexes, text] = row
      const addresses = (JSON.parse(hexes ?? '[]') as string[]).map(unpackHex)
      const lines = text === null ? [] : text.split('\n')
      const isWhole =
        after === null && addresses.length <= MAX_RANGES_HERE && (lines.length <= maxRows || limit === maxRows)
      const page = isWhole ? pageOfLines(addresses, lines, limit) : await neighbours(addresses, name, after, limit)
      return { addresses, page, lastObserved: lastObservedOf({ clock, other_clocks }) }
    },
  }
}

/** `lines`: those that READ_NEIGHBOURS_OF returns, with one more than `limit` if more rows follow. */
function pageOfLines(
  addresses: readonly IpAddress[],
  lines: readonly string[],
  limit: number,
): RowPage<NeighbourPosition> {
  const rows = lines.slice(0, limit).map((line) => line.split('\t') as NeighbourLine)
  const addressOf = (index: string): IpAddress => addresses[Number(index)]!
  const slices = rows.map(([index, name, since]) => `${name}${neighbourMiddle(addressOf(index))}${since}`)
  const [index, name] = lines.length > limit ? rows.at(-1)! : []
  const last = name === undefined ? null : { address: addressOf(index!), name }
  return { rows: joinJsonRows(slices), count: rows.length, last }
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
  return { key: packAddress(address), middle: neighbourMiddle(address) }
}

/** The addresses that are not read completely. The address of the position itself may have been removed. */
function addressesAfter(addresses: readonly IpAddress[], after: NeighbourPosition | null): IpAddress[] {
  return addresses.filter((address) => after === null || compareAddresses(address, after.address) >= 0)
}
