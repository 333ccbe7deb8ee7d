/** Pages of shared rows on SQLite: ranges by key, read in slices so that a long page never holds up its process. */

import type { DatabaseSync } from 'node:sqlite'
import type { DomainName } from '../../../values/domain-name.ts'
import { compareAddresses, type IpAddress, packAddress } from '../../../values/ip-address.ts'
import type { FactsReader, NeighbourPosition, PageRows, RowFormat, RowPage } from '../../port/store.ts'
import { yieldToEventLoop } from '../../shared/event-loop.ts'
import { JSON_ROW_SEPARATOR, joinJsonRows } from '../../shared/json-page.ts'

/** Rows read at once; between two slices other requests have their turn. */
const ROWS_PER_SLICE = 1000

const NO_BYTES = new Uint8Array()
/** A row with what stands before it is shorter: a name of 253 characters, an address of 45, a time of 19. */
const MAX_ROW_BYTES = 512

/** A slice: how many rows, their JSON from the first name to the end of the last value or the rows themselves, and the name of the last. */
type RowSlice = { count: number; json: Uint8Array; rows: unknown[]; last: DomainName }
/** Reads at most `most` rows from where the reader stands and moves on; count 0 at the end. */
type RowSliceReader<Position> = (maxRows: number) => { slice: RowSlice; position: Position } | null

// A bound limit is written `+?`: a bare one is looked at when SQLite plans, which it then does at every execution (6 µs).

/** Reads slices until the page is full, then looks whether one more row follows. */
async function readFullPage<Row, F extends RowFormat, Position>(
  read: RowSliceReader<Position>,
  limit: number,
  as: F,
): Promise<RowPage<Row, F, Position>> {
  const slices: RowSlice[] = []
  let left = limit
  let last: Position | null = null
  while (left > 0) {
    const next = read(Math.min(left, ROWS_PER_SLICE))
    if (!next) break
    slices.push(next.slice)
    left -= next.slice.count
    last = next.position
    if (left > 0) await yieldToEventLoop()
  }
  const more = left === 0 && read(1) !== null
  return { rows: rowsInFormat<Row, F>(slices, as), count: limit - left, last: more ? last : null }
}

function rowsInFormat<Row, F extends RowFormat>(slices: RowSlice[], as: F): PageRows<Row, F> {
  const rows = as === 'json' ? joinJsonRows(slices.map(({ json }) => json)) : slices.flatMap((slice) => slice.rows)
  return rows as unknown as PageRows<Row, F>
}

export function sqliteRedirects(database: DatabaseSync): FactsReader['redirects'] {
  const range = 'select source from redirect where target = ? and source > ? order by source limit +?'
  const json = database.prepare(
    `select count(*) as count, cast(group_concat(source, '${JSON_ROW_SEPARATOR}') as blob) as bytes from (${range})`,
  )
  const rows = database.prepare(range)
  return (target, after, limit, as) => {
    let from: string = after ?? ''
    let ended = false
    const read: RowSliceReader<DomainName> = (most) => {
      if (ended) return null
      const slice = as === 'json' ? jsonSlice(json.get(target, from, most)) : rowSlice(rows.all(target, from, most))
      ended = slice.count < most
      if (slice.count === 0) return null
      from = slice.last
      return { slice, position: slice.last }
    }
    return readFullPage(read, limit, as)
  }

  function rowSlice(found: unknown[]): RowSlice {
    const names = (found as { source: DomainName }[]).map(({ source }) => source)
    return { count: names.length, json: NO_BYTES, rows: names.map((target) => ({ target })), last: names.at(-1)! }
  }
}

export function sqliteNeighbours(database: DatabaseSync): FactsReader['neighbours'] {
  const all = neighbourStatements(database, '')
  // one test a row more, a quarter of the time: only where a name is left out
  const others = neighbourStatements(database, 'and name <> ?5')
  return (addresses, except, after, limit, as) => {
    const { json, rows } = except === null ? all : others
    const left = except === null ? [] : [except]
    const walk = addressesAfter(addresses, after)
    let from: string = walk[0] === after?.address ? (after?.name ?? '') : ''
    const read: RowSliceReader<NeighbourPosition> = (most) => {
      for (; walk.length > 0; walk.shift(), from = '') {
        const address = walk[0]!
        const key = [packAddress(address), from, most, `","ip":"${address}","since":"`, ...left] as const
        const slice = as === 'json' ? jsonSlice(json.get(...key)) : rowSlice(rows.all(...key), address)
        if (slice.count === 0) continue
        const ended = slice.count < most
        if (ended) walk.shift()
        from = ended ? '' : slice.last
        return { slice, position: { address, name: slice.last } }
      }
      return null
    }
    return readFullPage(read, limit, as)
  }

  function rowSlice(found: unknown[], ip: IpAddress): RowSlice {
    const list = found as { name: DomainName; since: string }[]
    const made = list.map(({ name, since }) => ({ target: name, ip, since }))
    return { count: list.length, json: NO_BYTES, rows: made, last: list.at(-1)?.name as DomainName }
  }
}

/** Bound are the address, the name before, how many, the text between name and time, and where there is one the name to leave out. */
function neighbourStatements(database: DatabaseSync, except: string) {
  const range = `select name, since, ?4 as middle from presence where address = ?1 and name > ?2 ${except} order by name limit +?3`
  return {
    json: database.prepare(
      `select count(*) as count, cast(group_concat(name || middle || since, '${JSON_ROW_SEPARATOR}') as blob) as bytes from (${range})`,
    ),
    rows: database.prepare(range),
  }
}

/** The addresses that a walk still has before it; its own may be gone by now. */
function addressesAfter(addresses: readonly IpAddress[], after: NeighbourPosition | null): IpAddress[] {
  return addresses.filter((address) => after === null || compareAddresses(address, after.address) >= 0)
}

/** A slice as SQLite wrote it; the name of its last row is read back from its end. All of it is ASCII. */
function jsonSlice(found: unknown): RowSlice {
  const { count, bytes } = found as { count: number; bytes: Uint8Array | null }
  if (bytes === null) return { count, json: NO_BYTES, rows: [], last: '' as DomainName }
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).subarray(-MAX_ROW_BYTES).toString('latin1')
  const begin = end.lastIndexOf(JSON_ROW_SEPARATOR)
  const [last] = end.slice(begin < 0 ? 0 : begin + JSON_ROW_SEPARATOR.length).split('"', 1)
  return { count, json: bytes, rows: [], last: last as DomainName }
}
