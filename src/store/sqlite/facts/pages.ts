/** Pages of shared rows on SQLite: ranges by key, read in slices so that a long page never blocks its process. */

import type { DatabaseSync } from 'node:sqlite'
import type { DomainName } from '../../../values/domain-name.ts'
import { compareAddresses, type IpAddress, packAddress } from '../../../values/ip-address.ts'
import type { FactsReader, NeighbourPosition, RowPage } from '../../port/store.ts'
import { yieldToEventLoop } from '../../shared/event-loop.ts'
import { JSON_ROW_SEPARATOR, joinJsonRows } from '../../shared/json-page.ts'
import type { BeginRead } from '../database/read-turn.ts'

/** Rows per read. Between two slices, the process handles other requests. */
const ROWS_PER_SLICE = 1000

const NO_BYTES = new Uint8Array()
/** Upper bound of a row with the separator before it: a name of 253 characters, an address of 45, a time of 19. */
const MAX_ROW_BYTES = 512

/** A slice: the number of rows, their JSON from the first name to the end of the last value, and the last name. */
type RowSlice = { count: number; json: Uint8Array; last: DomainName }
/** Reads at most `maxRows` rows from the current position and advances; null at the end. */
type RowSliceReader<Position> = (maxRows: number) => { slice: RowSlice; position: Position } | null

// A bound limit is written `+?`: SQLite plans a bare one again at every execution (6 µs).

/** Reads slices until the page is full, then checks whether another row follows. */
async function readFullPage<Position>(read: RowSliceReader<Position>, limit: number): Promise<RowPage<Position>> {
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
  return { rows: joinJsonRows(slices.map(({ json }) => json)), count: limit - left, last: more ? last : null }
}

export function sqliteRedirects(database: DatabaseSync, beginRead: BeginRead): FactsReader['redirects'] {
  const range = 'select source from redirect where target = ? and source > ? order by source limit +?'
  const statement = database.prepare(
    `select count(*) as count, cast(group_concat(source, '${JSON_ROW_SEPARATOR}') as blob) as bytes from (${range})`,
  )
  return (target, after, limit) => {
    let from: string = after ?? ''
    let isAtEnd = false
    const read: RowSliceReader<DomainName> = (maxRows) => {
      if (isAtEnd) return null
      beginRead()
      const slice = jsonSlice(statement.get(target, from, maxRows))
      isAtEnd = slice.count < maxRows
      if (slice.count === 0) return null
      from = slice.last
      return { slice, position: slice.last }
    }
    return readFullPage(read, limit)
  }
}

export function sqliteNeighbours(database: DatabaseSync, beginRead: BeginRead): FactsReader['neighbours'] {
  const all = neighbourStatement(database, '')
  // only if a name is excluded: one more test per row takes a quarter more time
  const others = neighbourStatement(database, 'and name <> ?5')
  return (addresses, except, after, limit) => {
    const statement = except === null ? all : others
    const excluded = except === null ? [] : [except]
    const remaining = addressesAfter(addresses, after)
    let from: string = remaining[0] === after?.address ? (after?.name ?? '') : ''
    const read: RowSliceReader<NeighbourPosition> = (maxRows) => {
      beginRead()
      for (; remaining.length > 0; remaining.shift(), from = '') {
        const address = remaining[0]!
        const key = [packAddress(address), from, maxRows, `","ip":"${address}","since":"`, ...excluded] as const
        const slice = jsonSlice(statement.get(...key))
        if (slice.count === 0) continue
        const isAtEnd = slice.count < maxRows
        if (isAtEnd) remaining.shift()
        from = isAtEnd ? '' : slice.last
        return { slice, position: { address, name: slice.last } }
      }
      return null
    }
    return readFullPage(read, limit)
  }
}

/**
 * Parameters: address, previous name, limit, text between name and time, and, if `except` is set, the excluded name.
 */
function neighbourStatement(database: DatabaseSync, except: string) {
  const range = `select name, since, ?4 as middle from presence where address = ?1 and name > ?2 ${except} order by name limit +?3`
  return database.prepare(
    `select count(*) as count, cast(group_concat(name || middle || since, '${JSON_ROW_SEPARATOR}') as blob) as bytes from (${range})`,
  )
}

/** The addresses that are not read completely. The address of the position itself may have been removed. */
function addressesAfter(addresses: readonly IpAddress[], after: NeighbourPosition | null): IpAddress[] {
  return addresses.filter((address) => after === null || compareAddresses(address, after.address) >= 0)
}

/** A slice as SQLite wrote it. The name of its last row is parsed from its end. All of it is ASCII. */
function jsonSlice(found: unknown): RowSlice {
  const { count, bytes } = found as { count: number; bytes: Uint8Array | null }
  if (bytes === null) return { count, json: NO_BYTES, last: '' as DomainName }
  const end = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).subarray(-MAX_ROW_BYTES).toString('latin1')
  const separatorAt = end.lastIndexOf(JSON_ROW_SEPARATOR)
  const [last] = end.slice(separatorAt < 0 ? 0 : separatorAt + JSON_ROW_SEPARATOR.length).split('"', 1)
  return { count, json: bytes, last: last as DomainName }
}
