/** The check of rows that nothing but their checksum speaks for: superseded states, and the rows of the index of /similar. */

import type { DatabaseSync } from 'node:sqlite'
import { emptyFrequencies, ROW_WORDS, unpackFrequencies } from '../../../similar/frequencies.ts'
import { unpackRow } from '../../../similar/postings.ts'
import { type Report, readable, reporter, type Slice, sliceOf } from '../../check/slice.ts'
import type { Fault } from '../../store.ts'
import { isWhole } from '../checksum.ts'

type Value = string | number | null | Uint8Array
type Row = Record<string, Value> & { checksum: number | null }
type Summed = {
  table: string
  /** The first of them are the key. */
  columns: readonly string[]
  key: number
  /** Reads what a row without a checksum holds; throws where it cannot be. */
  read?(row: Row): void
}

const STATE: Summed = {
  table: 'state',
  columns: ['id', 'type', 'first_seen', 'last_confirmed', 'records', 'serial', 'base'],
  key: 3,
  read: ({ records }) => void (records !== null && JSON.parse(records as string)),
}
const POSTING: Summed = {
  table: 'posting',
  columns: ['segment', 'place', 'wording', 'postings'],
  key: 3,
  read: ({ postings }) => void unpackRow(postings as Uint8Array),
}
const FREQUENCY: Summed = {
  table: 'frequency',
  columns: ['segment', 'last', 'counts'],
  key: 2,
  read: ({ counts }) => unpackFrequencies(counts as Uint8Array, emptyFrequencies(ROW_WORDS)),
}

export const checkStates = checkSummed(STATE)
export const checkPostings = checkSummed(POSTING)
export const checkFrequencies = checkSummed(FREQUENCY)

function checkSummed({ table, columns, key, read }: Summed) {
  const keys = columns.slice(0, key)
  return (database: DatabaseSync, after: string | null, limit: number): Slice => {
    const from = after === null ? keys.map(() => -1) : (JSON.parse(after) as number[])
    const rows = database
      .prepare(
        `select ${columns}, checksum from ${table} where (${keys}) > (${keys.map(() => '?')}) order by ${keys} limit ?`,
      )
      .all(...from, limit) as Row[]
    const faults: Fault[] = []
    for (const row of rows) {
      const report: Report = reporter(faults, table, keys.map((column) => row[column]).join(' '))
      if (
        !isWhole(
          row.checksum,
          columns.map((column) => row[column]!),
        )
      )
        report('is not what was written')
      if (row.checksum === null) readable(report, () => read?.(row))
    }
    const last = rows.at(-1)
    return sliceOf(faults, rows.length, last && JSON.stringify(keys.map((column) => last[column])))
  }
}

/** Keys that are JSON of numbers: the last moves first, then those before. */
export function afterNumbers(count: number) {
  return (after: string | null, n: number): string | null => {
    const key = after === null ? Array<number>(count).fill(-1) : (JSON.parse(after) as number[])
    const place = count - 1 - Math.floor(n / 52)
    return place < 0 ? null : JSON.stringify(key.with(place, key[place]! + 2 ** (n % 52)).fill(-1, place + 1))
  }
}
