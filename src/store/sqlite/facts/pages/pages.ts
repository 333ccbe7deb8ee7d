/** Pages of shared rows on SQLite: ranges by key. The first slice is read here, the rest in a thread. */

import type { DatabaseSync } from 'node:sqlite'
import { compareAddresses, type IpAddress, packAddress } from '../../../../values/ip-address.ts'
import type { FactsReader, NeighbourPosition, RowPage } from '../../../port/store.ts'
import { joinJsonRows } from '../../../shared/json-page.ts'
import type { BeginRead } from '../../database/read-turn.ts'
import type { LongPages } from './long-pages.ts'
import { type RowPosition, type RowRange, type RowReader, type RowSelection, rowReaders } from './row-reader.ts'

/** Rows and ranges that are read here: some tenths of a millisecond. */
const MAX_ROWS_HERE = 1_000
const MAX_RANGES_HERE = 50

/** `beginRead`: called before each read. */
export function sqlitePages(
  database: DatabaseSync,
  beginRead: BeginRead,
  longPages: LongPages,
): Pick<FactsReader, 'redirects' | 'neighbours'> {
  const readerOf = rowReaders(database)
  const read = (selection: RowSelection, limit: number): Promise<RowPage<RowPosition>> => {
    beginRead()
    return readPage(readerOf(selection), selection, limit, longPages)
  }
  return {
    async redirects(target, after, limit) {
      const selection: RowSelection = { table: 'redirect', ranges: [{ key: target }], after: after ?? '', except: null }
      const page = await read(selection, limit)
      return { ...page, last: page.last?.name ?? null }
    },
    async neighbours(addresses, except, after, limit) {
      const remaining = addressesAfter(addresses, after)
      const from = remaining[0] === after?.address ? (after?.name ?? '') : ''
      const page = await read({ table: 'presence', ranges: remaining.map(rangeOf), after: from, except }, limit)
      return { ...page, last: page.last && { address: remaining[page.last.range]!, name: page.last.name } }
    },
  }
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
  return { key: packAddress(address), middle: `","ip":"${address}","since":"` }
}

/** The addresses that are not read completely. The address of the position itself may have been removed. */
function addressesAfter(addresses: readonly IpAddress[], after: NeighbourPosition | null): IpAddress[] {
  return addresses.filter((address) => after === null || compareAddresses(address, after.address) >= 0)
}
