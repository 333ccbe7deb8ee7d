/** Pages of shared rows on SQLite: ranges by key, read in slices so that a long page never holds up its process. */

import type { DatabaseSync } from 'node:sqlite'
import { type Address, compareAddresses, packAddress } from '../../words/address.ts'
import type { Name } from '../../words/name.ts'
import { BETWEEN, jsonOf } from '../page.ts'
import type { Facts, NeighbourPosition, Page, RowFormat, Rows } from '../store.ts'
import { turn } from '../turn.ts'

/** Rows read at once; between two slices other requests have their turn. */
const SLICE_ROWS = 1000

const NOTHING = new Uint8Array()
/** A row with what stands before it is shorter: a name of 253 characters, an address of 45, a time of 19. */
const ROW_BYTES = 512

/** A slice: how many rows, their JSON from the first name to the end of the last value or the rows themselves, and the name of the last. */
type Slice = { count: number; json: Uint8Array; rows: unknown[]; last: Name }
/** Reads at most `most` rows from where the reader stands and moves on; count 0 at the end. */
type Reader<Position> = (most: number) => { slice: Slice; position: Position } | null

// A bound limit is written `+?`: a bare one is looked at when SQLite plans, which it then does at every execution (6 µs).

/** Reads slices until the page is full, then looks whether one more row follows. */
async function page<Row, F extends RowFormat, Position>(
  read: Reader<Position>,
  limit: number,
  as: F,
): Promise<Page<Row, F, Position>> {
  const slices: Slice[] = []
  let left = limit
  let last: Position | null = null
  while (left > 0) {
    const next = read(Math.min(left, SLICE_ROWS))
    if (!next) break
    slices.push(next.slice)
    left -= next.slice.count
    last = next.position
    if (left > 0) await turn()
  }
  const more = left === 0 && read(1) !== null
  return { rows: rowsOf<Row, F>(slices, as), count: limit - left, last: more ? last : null }
}

function rowsOf<Row, F extends RowFormat>(slices: Slice[], as: F): Rows<Row, F> {
  const rows = as === 'json' ? jsonOf(slices.map(({ json }) => json)) : slices.flatMap((slice) => slice.rows)
  return rows as unknown as Rows<Row, F>
}

export function redirectsOf(database: DatabaseSync): Facts['redirects'] {
  const range = 'select source from redirect where target = ? and source > ? order by source limit +?'
  const json = database.prepare(
    `select count(*) as count, cast(group_concat(source, '${BETWEEN}') as blob) as bytes from (${range})`,
  )
  const rows = database.prepare(range)
  return (target, after, limit, as) => {
    let from: string = after ?? ''
    let ended = false
    const read: Reader<Name> = (most) => {
      if (ended) return null
      const slice = as === 'json' ? jsonSlice(json.get(target, from, most)) : rowSlice(rows.all(target, from, most))
      ended = slice.count < most
      if (slice.count === 0) return null
      from = slice.last
      return { slice, position: slice.last }
    }
    return page(read, limit, as)
  }

  function rowSlice(found: unknown[]): Slice {
    const names = (found as { source: Name }[]).map(({ source }) => source)
    return { count: names.length, json: NOTHING, rows: names.map((target) => ({ target })), last: names.at(-1)! }
  }
}

export function neighboursOf(database: DatabaseSync): Facts['neighbours'] {
  const all = neighbourStatements(database, '')
  // one test a row more, a quarter of the time: only where a name is left out
  const others = neighbourStatements(database, 'and name <> ?5')
  return (addresses, except, after, limit, as) => {
    const { json, rows } = except === null ? all : others
    const left = except === null ? [] : [except]
    const walk = remaining(addresses, after)
    let from: string = walk[0] === after?.address ? (after?.name ?? '') : ''
    const read: Reader<NeighbourPosition> = (most) => {
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
    return page(read, limit, as)
  }

  function rowSlice(found: unknown[], ip: Address): Slice {
    const list = found as { name: Name; since: string }[]
    const made = list.map(({ name, since }) => ({ target: name, ip, since }))
    return { count: list.length, json: NOTHING, rows: made, last: list.at(-1)?.name as Name }
  }
}

/** Bound are the address, the name before, how many, the text between name and time, and where there is one the name to leave out. */
function neighbourStatements(database: DatabaseSync, except: string) {
  const range = `select name, since, ?4 as middle from presence where address = ?1 and name > ?2 ${except} order by name limit +?3`
  return {
    json: database.prepare(
      `select count(*) as count, cast(group_concat(name || middle || since, '${BETWEEN}') as blob) as bytes from (${range})`,
    ),
    rows: database.prepare(range),
  }
}

/** The addresses that a walk still has before it; its own may be gone by now. */
function remaining(addresses: readonly Address[], after: NeighbourPosition | null): Address[] {
  return addresses.filter((address) => after === null || compareAddresses(address, after.address) >= 0)
}

/** A slice as SQLite wrote it; the name of its last row is read back from its end. All of it is ASCII. */
function jsonSlice(found: unknown): Slice {
  const { count, bytes } = found as { count: number; bytes: Uint8Array | null }
  if (bytes === null) return { count, json: NOTHING, rows: [], last: '' as Name }
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).subarray(-ROW_BYTES).toString('latin1')
  const begin = end.lastIndexOf(BETWEEN)
  const [last] = end.slice(begin < 0 ? 0 : begin + BETWEEN.length).split('"', 1)
  return { count, json: bytes, rows: [], last: last as Name }
}
